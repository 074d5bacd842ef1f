import { stepUpWords } from '../../../identity/authorization/step-up.ts'
import type { ListedRoute } from '../../../routes/route-list.ts'

type Require = ListedRoute['require']

/** A difference lets somebody in, or keeps somebody out, or does neither. */
export type Effect = 'opens' | 'closes' | 'changes'

export interface RouteDifference {
  readonly effect: Effect
  readonly text: string
}

/** The differences in one route. The data that it receives decide nothing and are left out. */
export function routeDifferences(was: ListedRoute, is: ListedRoute): RouteDifference[] {
  if (was.noauth !== is.noauth) {
    // A policy that is not known may be any.
    const effect = was.noauth === true ? 'closes' : 'opens'
    // Without a tenant an open route keeps out nobody but by its checks.
    const differences = was.tenant === null ? checkDifference(was, is) : keptOut(was, is)
    const kept = was.noauth === true ? differences : []
    return [
      { effect, text: `was ${accessWords(was)}, is ${accessWords(is)}` },
      // Users come in whom an open route kept out.
      ...kept.filter((each) => each.effect === 'opens'),
    ]
  }
  return [
    ...switchDifference('guests', was.guests, is.guests),
    ...keptOut(was, is),
    ...changed('require', requirementWords, was, is, requireEffect(was.require, is.require)),
    ...switchDifference('tokens that are not bound', !was.confirmation, !is.confirmation),
    // Fewer `acr` or a lesser `maxAge` closes. Anything else lets in a login that was not enough.
    ...changed('login', loginWords, was, is, isFresher(is.stepUp, was.stepUp) ? 'closes' : 'opens'),
    // The same requests are let in, after other steps.
    ...changed('decision', momentWords, was, is, 'changes'),
  ]
}

/** The differences in what keeps requests out of an open route, too. */
function keptOut(was: ListedRoute, is: ListedRoute): RouteDifference[] {
  return [
    ...changed('tenant', tenantWords, was, is, tenantEffect(was, is)),
    ...switchDifference('suspended tenants', was.suspended, is.suspended),
    ...checkDifference(was, is),
  ]
}

function checkDifference(was: ListedRoute, is: ListedRoute): RouteDifference[] {
  const isLost = was.check?.some((name) => !is.check?.includes(name))
  return changed('check', checkWords, was, is, isLost ? 'opens' : 'closes')
}

/** A policy in words: `open`, `guarded, tenant in the path, require a:b`. */
export function policyWords(route: ListedRoute): string {
  if (route.noauth !== false) return accessWords(route)
  return [
    'guarded',
    `tenant ${tenantWords(route)}`,
    `require ${requirementWords(route)}`,
    ...(route.guests ? ['guests too'] : []),
    ...(route.suspended ? ['suspended tenants too'] : []),
    ...(route.check ? [`check ${checkWords(route)}`] : []),
    ...(route.confirmation ? ['bound tokens only'] : []),
    ...(route.stepUp ? [`login ${loginWords(route)}`] : []),
    ...(route.late ? ['decided after the body'] : []),
  ].join(', ')
}

/** An open route's tenant and checks count too: they keep some callers out. */
function accessWords(route: ListedRoute): string {
  const { noauth, tenant, suspended, check } = route
  if (noauth === null) return 'not known (written before the plugin)'
  if (!noauth) return 'guarded'
  return [
    'open',
    ...(tenant === null ? [] : [`tenant ${tenantWords(route)}`]),
    ...(suspended ? ['suspended tenants too'] : []),
    ...(check ? [`checked by ${checkWords(route)}`] : []),
  ].join(', ')
}

const TENANTS = {
  path: { words: 'in the path', strictness: 2 },
  query: { words: 'in the query', strictness: 2 },
  optional: { words: 'optional in the query', strictness: 1 },
  none: { words: 'none', strictness: 0 },
} as const

function tenantWords({ tenant }: ListedRoute): string {
  return TENANTS[tenant ?? 'none'].words
}

function tenantEffect(was: ListedRoute, is: ListedRoute): Effect {
  // A user may hold in a tenant the rights that he does not hold everywhere.
  if (was.tenant === null && is.require !== null) return 'opens'
  const [before, after] = [TENANTS[was.tenant ?? 'none'], TENANTS[is.tenant ?? 'none']]
  const more = after.strictness - before.strictness
  return more === 0 ? 'changes' : more < 0 ? 'opens' : 'closes'
}

/** No difference if the words are the same. */
function changed(
  what: string,
  words: (route: ListedRoute) => string,
  was: ListedRoute,
  is: ListedRoute,
  effect: Effect,
): RouteDifference[] {
  const [before, after] = [words(was), words(is)]
  return before === after ? [] : [{ effect, text: `${what} was ${before}, is ${after}` }]
}

function momentWords({ late }: ListedRoute): string {
  return `${late ? 'after' : 'before'} the body`
}

/** @param who is let in beside others by a switch of the route */
function switchDifference(who: string, was = false, is = false): RouteDifference[] {
  if (was === is) return []
  const words = (letsIn: boolean) => (letsIn ? 'let in' : 'kept out')
  const text = `${who} were ${words(was)}, are ${words(is)}`
  return [{ effect: is ? 'opens' : 'closes', text }]
}

/** In any order: `a and b`, `none`. */
export function checkWords({ check = [] }: ListedRoute): string {
  return check.length === 0 ? 'none' : [...new Set(check)].sort().join(' and ')
}

/** In any order: `acr phr or phrh, at most 300 s old`, `any`. */
export function loginWords({ stepUp }: ListedRoute): string {
  if (stepUp === undefined) return 'any'
  return stepUpWords({ ...stepUp, acr: [...new Set(stepUp.acr)].sort() })
}

/** True: each login that is enough for the one is enough for the other. */
function isFresher(strict: ListedRoute['stepUp'], loose: ListedRoute['stepUp']): boolean {
  if (loose === undefined) return true
  const { acr = [], maxAge = null } = strict ?? {}
  const areOfThose = acr.length > 0 && acr.every((value) => loose.acr.includes(value))
  const isLately = loose.maxAge === null || (maxAge !== null && maxAge <= loose.maxAge)
  return (loose.acr.length === 0 || areOfThose) && isLately
}

/** If one user meets the new requirement who did not meet the old one, something opens. */
function requireEffect(before: Require, after: Require): Effect {
  if (isByRequest(before) && isByRequest(after)) {
    return idsOf(after).some((id) => !idsOf(before).includes(id)) ? 'opens' : 'changes'
  }
  if (!implies(after, before)) return 'opens'
  return implies(before, after) ? 'changes' : 'closes'
}

function implies(stricter: Require, looser: Require): boolean {
  return leastHeld(stricter).every((held) => isMetBy(held, looser))
}

/** In any order: `a:b and c:d`, `any of a:b, c:d`, `by request: a:b | c:d`, `none`. */
export function requirementWords({ require }: ListedRoute): string {
  if (require === null) return 'none'
  const ids = [...new Set(idsOf(require))].sort()
  // A declaration may be wrong and yet not stop the boot.
  if (ids.length === 0) return 'what cannot be held'
  if (isAll(require)) return ids.join(' and ')
  return 'any' in require ? `any of ${ids.join(', ')}` : `by request: ${ids.join(' | ')}`
}

/** The smallest sets of ids that meet a requirement. */
function leastHeld(require: Require): readonly (readonly string[])[] {
  if (require === null) return [[]]
  // A request may require the least of what it can.
  return isAll(require) ? [require] : idsOf(require).map((id) => [id])
}

/** A choice by request is met by all ids that it may require. */
function isMetBy(held: readonly string[], require: Require): boolean {
  if (require === null) return true
  const holds = (id: string): boolean => held.includes(id)
  return 'any' in require ? require.any.some(holds) : idsOf(require).every(holds)
}

export function idsOf(require: Require): readonly string[] {
  if (require === null) return []
  if (isAll(require)) return require
  return 'any' in require ? require.any : require.among
}

function isByRequest(require: Require): boolean {
  return require !== null && 'among' in require
}

function isAll(require: NonNullable<Require>): require is readonly string[] {
  return Array.isArray(require)
}
