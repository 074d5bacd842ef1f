/** Options of the applications, in seconds. They are short, so that each of them passes often. */
export const TIMES = {
  clockTolerance: 2,
  keysTimeout: 3,
  keysMaxAge: 8,
  keysMaxStale: 12,
  keysCooldown: 2,
  keysRetry: 0.5,
  tenantsTimeout: 1,
  tenantsMaxAge: 3,
  resourcesMaxAge: 6,
  opaqueMaxAge: 3,
  proofMaxAge: 60,
} as const

/** Options of the deny list, in seconds. */
export const DENY_LIST = { interval: 1, maxStale: 6 } as const

/** So small that tokens leave it all the time, and what it holds is no growth of an hour. */
export const TOKEN_CACHE_SIZE = 300

/** Seconds for which the contract keeps that a user, or a token that is no JWT, is unknown. */
export const UNKNOWN_FOR = 2

/** Seconds. The contract lets no refusal be older for rights that the application returns. */
export const REFUSAL_AGE = 2

export const AUDIENCE = 'soak'

/** The client whose logout tokens count. */
export const CLIENT = 'soak-web'

export const SUPERUSER = 'authz:superuser'

/** Resources that contain others. */
export const IMPLIES = { 'menu:write': ['menu:read'] } as const

/** The address of all processes, as proofs name it. */
export const PUBLIC_URL = 'https://soak.test'

/** Two at a time, as while one takes the place of the other. */
export const SECRETS = [
  'the first secret of the soak, of 40 bytes',
  'the second secret of the soak, of 41 bytes',
]

/**
 * Seconds within which what was served, sent or due counts in a process. A stall of the machine is
 * added where one was seen.
 */
export const ON_THE_WAY = 1

/** Seconds within which a key server that is well again was asked, even after a hanging answer. */
export const KEYS_RECOVERY = TIMES.keysTimeout + TIMES.keysCooldown + ON_THE_WAY

/** Seconds within which the store of the deny list was read after it was away. */
export const STORE_RECOVERY = DENY_LIST.interval + 2 * ON_THE_WAY

/** Seconds within which an entry of another process counts while the store is well. */
export const LEARNT_WITHIN = DENY_LIST.interval + ON_THE_WAY
