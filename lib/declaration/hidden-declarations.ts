import { DECLARED_KEYS, meantKey } from './declared-keys.ts'

/**
 * Keys of ours, and slips of them, that a copy of a config loses or turns into plain values; each
 * with the reason.
 */
export type Hidden = ReadonlyMap<string, string>

/** The keys of ours that are inherited, not enumerable or getters. */
export function hiddenDeclarations(config: object): Hidden {
  const found = new Map<string, string>()
  let holder: object | null = config
  // What every object inherits is not a declaration of this one.
  while (holder !== null && !Object.hasOwn(holder, 'hasOwnProperty')) {
    for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(holder))) {
      const why = holder === config ? whyHidden(property) : 'inherited'
      const isNearest = Object.hasOwn(config, key) === (holder === config)
      if (why !== '' && isNearest && isOurs(key)) found.set(key, why)
    }
    holder = Reflect.getPrototypeOf(holder)
  }
  return found
}

/**
 * The keys of ours that stand beside `config` in a route's options, where no compiler tells that
 * they declare nothing. An open route may have those of another plugin.
 */
export function declarationsBeside(options: object, config: object): Hidden {
  if (Object.getOwnPropertyDescriptor(config, 'noauth')?.value === true) return new Map()
  const own = new Map<string, unknown>(Object.entries(options))
  const keys = DECLARED_KEYS.filter((key) => own.get(key) !== undefined && own.get(key) !== false)
  return new Map(
    keys.map((key) => [
      key,
      `beside config, where it declares nothing; write { config: { ${key}: … } }`,
    ]),
  )
}

function isOurs(key: string): boolean {
  return DECLARED_KEYS.some((ours) => ours === key) || meantKey(key) !== undefined
}

function whyHidden({ get, set, enumerable }: PropertyDescriptor): string {
  if (get || set) return 'a getter'
  return enumerable ? '' : 'not enumerable'
}
