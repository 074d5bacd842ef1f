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

function isOurs(key: string): boolean {
  return DECLARED_KEYS.some((ours) => ours === key) || meantKey(key) !== undefined
}

function whyHidden({ get, set, enumerable }: PropertyDescriptor): string {
  if (get || set) return 'a getter'
  return enumerable ? '' : 'not enumerable'
}
