import type { ListedRoute } from './listed-routes.ts'

type Require = ListedRoute['require']

/** Whether each user who meets `stricter` meets `looser` too. */
export function implies(stricter: Require, looser: Require): boolean {
  return leastHeld(stricter).every((held) => isMetBy(held, looser))
}

/** Whether two requirements are written alike, in any order. */
export function isAlike(a: Require, b: Require): boolean {
  return requirementWords(a) === requirementWords(b)
}

/** What a requirement asks for: `a:b and c:d`, `any of a:b, c:d`, `none`, `what cannot be held`. */
export function requirementWords(require: Require): string {
  if (require === null) return 'none'
  const ids = [...new Set(idsOf(require))].sort()
  // So it is where a declaration is wrong and yet does not stop the boot.
  if (ids.length === 0) return 'what cannot be held'
  return isAll(require) ? ids.join(' and ') : `any of ${ids.join(', ')}`
}

/** The smallest sets of ids that meet a requirement. */
function leastHeld(require: Require): readonly (readonly string[])[] {
  if (require === null) return [[]]
  return isAll(require) ? [require] : require.any.map((id) => [id])
}

function isMetBy(held: readonly string[], require: Require): boolean {
  if (require === null) return true
  const holds = (id: string): boolean => held.includes(id)
  return isAll(require) ? require.every(holds) : require.any.some(holds)
}

function idsOf(require: NonNullable<Require>): readonly string[] {
  return isAll(require) ? require : require.any
}

function isAll(require: NonNullable<Require>): require is readonly string[] {
  return Array.isArray(require)
}
