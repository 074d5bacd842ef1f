import { misspelt } from './misspelling.ts'

/** Keys that are declared by `true`. */
export const FLAGS = ['userInfo', 'resources', 'authorization'] as const

/** The keys of `config` that are ours. */
export const DECLARED_KEYS = ['noauth', 'tenant', ...FLAGS, 'require'] as const

/**
 * What a config declares beside `noauth`, right or wrong. `false` and `undefined` mean not
 * declared.
 */
export function declaredBeside(values: ReadonlyMap<string, unknown>): readonly string[] {
  return DECLARED_KEYS.filter((key) => key !== 'noauth' && (values.get(key) ?? false) !== false)
}

/** The key of ours that this one is a slip of. */
export function meantKey(key: string): (typeof DECLARED_KEYS)[number] | undefined {
  return misspelt(key, DECLARED_KEYS)
}

/** The values of our keys, by own properties. */
export function valuesIn(config: object): readonly unknown[] {
  return DECLARED_KEYS.map((key) => Object.getOwnPropertyDescriptor(config, key)?.value)
}
