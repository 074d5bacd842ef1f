import fc from 'fast-check'

/** Mostly a good value, and sometimes a bent one. A whole token has many parts that may be bent. */
export function mostly<T>(good: readonly T[], bent: fc.Arbitrary<T>, weight = 24): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: bent })
}
