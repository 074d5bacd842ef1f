import { isObject } from '../outside/is-object.ts'

/**
 * An object of a document. It is read before anything has validated it, so each member may have any
 * type.
 */
export type Draft = Readonly<Record<string, unknown>>

/** A copy of an object; an empty one where there is none. */
export function draft(value: unknown): Draft {
  return isObject(value) ? { ...value } : {}
}

/** A list; an empty one where there is none. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function mapValues(holder: Draft, map: (value: unknown, key: string) => unknown): Draft {
  return Object.fromEntries(Object.entries(holder).map(([key, value]) => [key, map(value, key)]))
}

/** The wanted name, or a name like it that is not taken. */
export function freeName(wanted: string, taken: Draft): string {
  return Object.hasOwn(taken, wanted) ? freeName(`${wanted}_`, taken) : wanted
}
