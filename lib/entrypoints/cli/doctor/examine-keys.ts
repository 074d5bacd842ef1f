import { showValue } from '../../../config/redact.ts'
import type { KeyFlaw, VerificationKey } from '../../../identity/jwks/jwk.ts'
import { areTestKeys, KeySet, readMembers } from '../../../identity/jwks/jwk-set.ts'
import { reasonOf } from '../../../platform/http/failure.ts'
import { isObject, ownProperty } from '../../../platform/runtime/own-property.ts'
import { doubtful, type Finding, fine, wrong } from './finding.ts'

export interface ExaminedKeys {
  readonly findings: readonly Finding[]
  /** Undefined: they cannot be used. */
  readonly keys?: KeySet
}

const FLAWS: Readonly<Record<KeyFlaw, string>> = {
  malformed: 'export the key from the server anew',
  symmetric: 'let the server sign with an asymmetric key, such as RS256; this one is no secret now',
  private: 'publish the public half only, and replace the key: it is no secret any more',
  'for encryption': 'let the server publish the key that signs: "use" must be "sig"',
  'not for verifying': 'let "use" be "sig", and "key_ops", if given, name "verify"',
  'of an unknown type': 'let the server sign with an RSA, EC or Ed25519 key',
  'for no known algorithm': 'let the server sign with an algorithm that this Node has',
  'too weak': 'make a new key at the server: RSA with 2048 bits or more, or ES256',
  'too costly': 'make a smaller key at the server: RSA with 2048 to 8192 bits',
}

/** By what the guard says of a set that it does not take. */
const SET_CURES: readonly (readonly [reason: RegExp, cure: string])[] = [
  [/discovery document/, 'write its issuer as issuer without public_keys_url, or that jwks_uri'],
  [/too many members/, 'let the server publish the keys that are in use only, 100 at most'],
  [/set is too costly/, 'let it publish 10 keys on P-521 or 20 on P-384 at most, or use ES256'],
  [/0 members/, 'the server has no key yet: make it one that signs'],
]

const NO_SET = 'public_keys_url must be the jwks_uri of the server: an object with a list "keys"'

/**
 * What a JWK set is worth to the guard.
 *
 * @param where what the findings call it
 * @param algorithms those that are allowed
 */
export function examineKeys(
  jwks: unknown,
  where: string,
  algorithms: readonly string[],
): ExaminedKeys {
  let read: readonly (VerificationKey | KeyFlaw)[] = []
  let keys: KeySet
  try {
    read = readMembers(jwks)
    keys = new KeySet(jwks)
  } catch (error) {
    const reason = reasonOf(error)
    const [, cure] = SET_CURES.find(([pattern]) => pattern.test(reason)) ?? []
    const flaws = flawsOf(read, jwks)
    const named = flaws.flatMap(({ flaw, kids }) =>
      kids.length > 0 ? [`${flaw}: ${kids.join(', ')}`] : [],
    )
    const names = named.length > 0 ? ` (${named.join('; ')})` : ''
    const cures = flaws.map(({ flaw }) => FLAWS[flaw]).join('; ')
    return { findings: [wrong(`${where}: ${reason}${names}`, cure ?? (cures || NO_SET))] }
  }
  const usable = new Set(
    read.flatMap((each) => (typeof each === 'object' ? [...each.algorithms] : [])),
  )
  // A key for encryption beside the others is usual.
  const odd = flawsOf(read, jwks).filter(({ flaw }) => flaw !== 'for encryption')
  const findings = [
    fitting(where, [...usable], algorithms),
    ...odd.flatMap(({ flaw, kids, isUnnamed }) =>
      [...kids.map((kid) => `the key ${kid}`), ...(isUnnamed ? ['a key'] : [])].map((key) =>
        doubtful(`${where}: ${key} is passed over, since it is ${flaw}`, FLAWS[flaw]),
      ),
    ),
    ...(areTestKeys(keys) ? [TEST_KEYS] : []),
  ]
  return { findings, keys }
}

interface FoundFlaw {
  readonly flaw: KeyFlaw
  /** The names of the keys that have it, fit for a terminal. */
  readonly kids: readonly string[]
  /** Whether a key without a name has it. */
  readonly isUnnamed: boolean
}

/** What is wrong with which members. */
function flawsOf(
  read: readonly (VerificationKey | KeyFlaw)[],
  jwks: unknown,
): readonly FoundFlaw[] {
  const given: unknown = isObject(jwks) ? ownProperty(jwks, 'keys') : undefined
  const members: readonly unknown[] = Array.isArray(given) ? given : []
  const flaws = [...new Set(read.filter((each) => typeof each === 'string'))]
  return flaws.map((flaw) => {
    const kids = members.flatMap((member, i) => (read[i] === flaw ? [kidOf(member)] : []))
    const named = kids.filter((kid) => typeof kid === 'string')
    const isUnnamed = named.length < kids.length
    return { flaw, kids: [...new Set(named.map(showValue))], isUnnamed }
  })
}

function kidOf(member: unknown): unknown {
  return isObject(member) ? ownProperty(member, 'kid') : undefined
}

const TEST_KEYS = doubtful(
  'the keys are those of a test authority (npx fastify-tenant-auth authority)',
  'name the issuer of production instead, before strangers can reach the application',
)

function fitting(where: string, usable: readonly string[], allowed: readonly string[]): Finding {
  const both = usable.filter((name) => allowed.includes(name))
  if (both.length > 0) return fine(`${where}: usable, for ${both.join(', ')}`)
  return wrong(
    `${where}: no key fits the allowed algorithms ${allowed.join(', ')}; they are for ${usable.join(', ')}`,
    'name the one that the server signs with in algorithms, or take that option away',
  )
}
