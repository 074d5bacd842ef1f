/**
 * Whether two types are the very same. TypeScript takes two generic functions for identical only if
 * the types in their conditions are. So `any`, `unknown`, optional and readonly count; with
 * assignability they would not.
 */
export type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

type Mismatch<Actual, Expected> =
  Equal<Actual, Expected> extends true ? [] : [mismatch: { actual: Actual; expected: Expected }]

/** @example expectType(request.tenant).is<string | null>() */
export declare function expectType<const Actual>(value: Actual): {
  is<Expected>(...mismatch: Mismatch<Actual, Expected>): void
}

/** For a type without a value at hand. @example expectTypes<keyof T, 'a' | 'b'>() */
export declare function expectTypes<Actual, Expected>(...mismatch: Mismatch<Actual, Expected>): void
