import { isWithinEdits } from '../config/did-you-mean.ts'

/** Keys that are declared by `true`. */
export const FLAGS = [
  'userInfo',
  'resources',
  'authorization',
  'guests',
  'suspended',
  'late',
] as const

/** The keys of `config` that are ours. */
const DECLARED_KEYS = [
  'noauth',
  'tenant',
  ...FLAGS,
  'require',
  'check',
  'confirmation',
  'stepUp',
] as const

const OURS = new Set<string>(DECLARED_KEYS)

/** Keys that an open route may declare. */
const OF_OPEN_ROUTES = ['tenant', 'suspended', 'check']

/** The keys that contradict `noauth`, right or wrong. */
export function keysAgainstNoauth(values: ReadonlyMap<string, unknown>): readonly string[] {
  return keysBesideNoauth(values).filter((key) => !OF_OPEN_ROUTES.includes(key))
}

/** The keys that a config declares beside `noauth`, right or wrong. */
export function keysBesideNoauth(values: ReadonlyMap<string, unknown>): readonly string[] {
  return DECLARED_KEYS.filter((key) => key !== 'noauth' && (values.get(key) ?? false) !== false)
}

/** The values of our keys, by own properties; undefined if there is none. */
export function valuesIn(config: object): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>()
  for (const key of DECLARED_KEYS) {
    values.set(key, Object.getOwnPropertyDescriptor(config, key)?.value)
  }
  return values
}

/** Other words for `require`: `requireAny`, `required`, `requiresAll`. */
const REQUIRING = /^require[sd]?(?:any|all|one|some|each)?(?:of)?$/

/**
 * The key of ours that this one is a slip of: it differs in case, in `_` or `-`, or in one letter
 * if the key has five or more, since `late` is near to `date` and `rate`. Undefined if it is one
 * of ours, or like none.
 */
export function meantKey(key: string): (typeof DECLARED_KEYS)[number] | undefined {
  if (OURS.has(key)) return undefined
  const plain = plainOf(key)
  return DECLARED_KEYS.find(
    (name) =>
      isWithinEdits(name.length >= 5 ? 1 : 0, plain, plainOf(name)) ||
      (name === 'require' && REQUIRING.test(plain)),
  )
}

/**
 * True: a path parameter may have been meant for `name`. Both are the same without case, `_`, `-`
 * and an ending such as `Id`, and one letter may differ if the name is long enough.
 */
export function resembles(parameter: string, name: string): boolean {
  const wanted = withAndWithoutEnding(name)
  return withAndWithoutEnding(parameter).some((each) =>
    wanted.some((word) => each === word || (word.length >= 5 && isWithinEdits(1, each, word))),
  )
}

/** An ending that is all of a name is none. */
function withAndWithoutEnding(word: string): string[] {
  const plain = plainOf(word)
  return [plain, plain.replace(/(?<=.)(?:id|name|slug|key)$/, '')]
}

function plainOf(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, '')
}

/**
 * Keys of ours, and slips of them, that a copy of a config loses or turns into plain values; each
 * with the reason.
 */
export type Hidden = ReadonlyMap<string, string>

/** The keys of ours that are inherited, not enumerable or getters. */
export function hiddenDeclarations(config: object): Hidden {
  const found = new Map<string, string>()
  let holder: object | null = config
  while (holder !== null && (holder === config || !isObjectPrototype(holder))) {
    for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(holder))) {
      const why = holder === config ? whyHidden(property) : 'inherited'
      const isNearest = Object.hasOwn(config, key) === (holder === config)
      if (why === '' || !isNearest) continue
      if (OURS.has(key) || meantKey(key) !== undefined) found.set(key, why)
    }
    holder = Reflect.getPrototypeOf(holder)
  }
  return found
}

/** A property of Object.prototype, of which each realm has one, is no declaration. */
function isObjectPrototype(holder: object): boolean {
  return Reflect.getPrototypeOf(holder) === null && Object.hasOwn(holder, 'hasOwnProperty')
}

function whyHidden({ get, set, enumerable }: PropertyDescriptor): string {
  if (get || set) return 'a getter'
  return enumerable ? '' : 'not enumerable'
}

/**
 * The keys of ours that stand beside `config` in the options of a route. The compiler accepts them
 * there, and they declare nothing. An open route of which nothing is decided may have those of
 * another plugin, but for a check: without it everybody would come in.
 */
export function keysBesideConfig(options: object, config: object): Hidden {
  const isOpen = Object.getOwnPropertyDescriptor(config, 'noauth')?.value === true
  const isExempt = isOpen && keysBesideNoauth(new Map(Object.entries(config))).length === 0
  const own = new Map<string, unknown>(Object.entries(options))
  const found = new Map<string, string>()
  for (const key of isExempt ? (['check'] as const) : DECLARED_KEYS) {
    if (own.get(key) === undefined || own.get(key) === false) continue
    found.set(key, `beside config, where it declares nothing; write { config: { ${key}: … } }`)
  }
  return found
}
