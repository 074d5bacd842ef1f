// Outside: data of others, such as JSON. Each part of it may have any type.

/** Whether a value is an object. Null and lists are not. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
