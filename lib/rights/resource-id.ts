/**
 * `<name>:<action>`, in the characters of a scope token (RFC 6749 §3.3), because the challenge
 * names it as one.
 */
const RESOURCE_ID = /^[!#-9;-[\]-~]+:[!#-[\]-~]+$/

/** Whether a value can be a resource id, `<name>:<action>`. */
export function isResourceId(value: unknown): value is string {
  return typeof value === 'string' && RESOURCE_ID.test(value)
}
