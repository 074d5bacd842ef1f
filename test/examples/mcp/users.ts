/** What each user may do, by tenant: the claim `resources` of their tokens. */
export const USERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  alice: { 'lazy-raccoon': ['menu:read', 'menu:edit'] },
  bob: { 'busy-beaver': ['menu:read'] },
  mallory: { 'quiet-otter': ['menu:read', 'menu:edit'] },
}
