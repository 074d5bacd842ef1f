/** An object of a document, of which we know what we look at. */
export type Draft = Readonly<Record<string, unknown>>

/** Documents are read before anything has validated them, so every member may be anything. */
export function isDraft(value: unknown): value is Draft {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A copy of an object; an empty one where there is none. */
export function draft(value: unknown): Draft {
  return isDraft(value) ? { ...value } : {}
}

/** A list; an empty one where there is none. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function mapValues(holder: Draft, map: (value: unknown, key: string) => unknown): Draft {
  return Object.fromEntries(Object.entries(holder).map(([key, value]) => [key, map(value, key)]))
}

/** The wanted name, or one like it that nothing among these has. */
export function freeName(wanted: string, taken: Draft): string {
  return Object.hasOwn(taken, wanted) ? freeName(`${wanted}_`, taken) : wanted
}
