import { expectType, expectTypes } from './expect-type.ts'

// Tests the measure itself: if one of these compiled, every other file here could pass for no
// reason.

/** What the types of some libraries give, and ours must not. */
type Any = ReturnType<typeof JSON.parse>

declare const text: string
declare const anything: Any
declare const unknowable: unknown
declare const maybe: string | undefined
declare const nothing: never

expectType(text).is<string>()
expectType(maybe).is<string | undefined>()
expectType('path').is<'path'>()
expectTypes<{ readonly a: 1 }, { readonly a: 1 }>()

// @ts-expect-error a subtype is not the type
expectType(text).is<string | null>()
// @ts-expect-error a supertype is not the type
expectType(maybe).is<string>()
// @ts-expect-error `any` hides every mistake, so it equals nothing but itself
expectType(anything).is<string>()
// @ts-expect-error no type but `any` equals `any`
expectType(text).is<Any>()
// @ts-expect-error `unknown` is not `any`
expectType(unknowable).is<Any>()
// @ts-expect-error `never` is assignable to everything, and equals nothing
expectType(nothing).is<string>()
// @ts-expect-error a writable property is not a readonly one
expectTypes<{ readonly a: 1 }, { a: 1 }>()
// @ts-expect-error an optional property is not one that may be undefined
expectTypes<{ a?: 1 }, { a: 1 | undefined }>()
