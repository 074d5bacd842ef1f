export type { Changes, DenyEntry, GivenEntry, KeptEntry } from './deny-list/deny-entry.ts'
export { type DenyListOptions, denyList } from './deny-list/deny-list.ts'
export type { DenyList } from './deny-list/deny-list-function.ts'
export type { DenyListRules } from './deny-list/deny-list-options.ts'
