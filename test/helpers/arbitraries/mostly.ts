import fc from 'fast-check'

/** Mostly what is good, and now and then what is bent: a whole token has many chances to be bent. */
export function mostly<T>(good: readonly T[], bent: fc.Arbitrary<T>, weight = 24): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: bent })
}
