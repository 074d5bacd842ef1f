import { showValue } from '../../../config/redact.ts'
import type { KeyFlaw, VerificationKey } from '../../../identity/jwks/jwk.ts'
import {
  areTestKeys,
  type KeySet,
  readKeySet,
  readMembers,
} from '../../../identity/jwks/jwk-set.ts'
import { reasonOf } from '../../../platform/http/failure.ts'
import { ownMember } from '../../../platform/runtime/own-property.ts'
import { doubtful, type Finding, fine, wrong } from './finding.ts'

/** The findings about a server, and its keys. */
export interface Examination {
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
  'too costly': 'make a smaller key at the server: RSA with 2048, 3072 or 4096 bits',
}

const SET_CURES: readonly (readonly [reason: RegExp, cure: string])[] = [
  [/discovery document/, 'write its issuer as issuer without public_keys_url, or that jwks_uri'],
  [/too many members/, 'let the server publish the keys that are in use only, 100 at most'],
  [/set is too costly/, 'let it publish 10 keys on P-521 or 21 on P-384 at most, or use ES256'],
  [/0 members/, 'the server has no key yet: make it one that signs'],
]

const NO_SET = 'public_keys_url must be the jwks_uri of the server: an object with a list "keys"'

export function examineKeys(
  jwks: unknown,
  where: string,
  algorithms: readonly string[],
): Examination {
  let members: readonly (VerificationKey | KeyFlaw)[] = []
  let keys: KeySet
  try {
    members = readMembers(jwks)
    keys = readKeySet(jwks)
  } catch (error) {
    const reason = reasonOf(error)
    const [, cure] = SET_CURES.find(([pattern]) => pattern.test(reason)) ?? []
    const flaws = flawsOf(members, jwks)
    const named = flaws.filter(({ kids }) => kids.length > 0)
    const words = named.map(({ flaw, kids }) => `${flaw}: ${kids.join(', ')}`).join('; ')
    const cures = flaws.map(({ flaw }) => FLAWS[flaw]).join('; ')
    const what = `${where}: ${reason}${words === '' ? '' : ` (${words})`}`
    return { findings: [wrong(what, cure ?? (cures || NO_SET))] }
  }
  const usable = members.flatMap((each) => (typeof each === 'object' ? [...each.algorithms] : []))
  // A key for encryption beside the others is usual.
  const odd = flawsOf(members, jwks).filter(({ flaw }) => flaw !== 'for encryption')
  const findings = [
    algorithmFinding(where, [...new Set(usable)], algorithms),
    ...odd.flatMap(({ flaw, kids, hasNameless }) =>
      [...kids.map((kid) => `the key ${kid}`), ...(hasNameless ? ['a key'] : [])].map((key) =>
        doubtful(`${where}: ${key} is passed over, since it is ${flaw}`, FLAWS[flaw]),
      ),
    ),
    ...[...sharedNames(members, algorithms)].map(([kid, names]) =>
      sharedNameFinding(where, kid, names),
    ),
    ...(areTestKeys(keys) ? [TEST_KEYS] : []),
  ]
  return { findings, keys }
}

/** The names that several keys have for one allowed algorithm, so that none of them fits a token. */
function sharedNames(members: readonly (VerificationKey | KeyFlaw)[], allowed: readonly string[]) {
  const keys = members.filter((each) => typeof each === 'object')
  const shared = new Map<string | undefined, Set<string>>()
  for (const [index, { kid, key, algorithms }] of keys.entries()) {
    const others = keys
      .slice(0, index)
      .filter((other) => other.kid === kid && !other.key.equals(key))
    const both = allowed.filter(
      (name) => algorithms.has(name) && others.some((other) => other.algorithms.has(name)),
    )
    if (both.length > 0) shared.set(kid, new Set([...(shared.get(kid) ?? []), ...both]))
  }
  return shared
}

function sharedNameFinding(where: string, kid: string | undefined, names: Set<string>): Finding {
  const cure = 'let each key of the server have a kid of its own'
  const of = [...names].join(', ')
  // Tokens may name other keys of the set.
  if (kid === undefined) {
    return doubtful(`${where}: several keys for ${of} have no kid, so none of them fits`, cure)
  }
  return wrong(
    `${where}: ${showValue(kid)} is the kid of several keys for ${of}, so none of them fits`,
    cure,
  )
}

/** Each flaw with the names of the keys that have it, fit for a terminal. */
function flawsOf(members: readonly (VerificationKey | KeyFlaw)[], jwks: unknown) {
  const given = ownMember(jwks, 'keys')
  const jwkList: readonly unknown[] = Array.isArray(given) ? given : []
  const flaws = [...new Set(members.filter((each) => typeof each === 'string'))]
  return flaws.map((flaw) => {
    const kids = jwkList.flatMap((jwk, i) => (members[i] === flaw ? [ownMember(jwk, 'kid')] : []))
    const names = kids.filter((kid) => typeof kid === 'string')
    const hasNameless = names.length < kids.length
    return { flaw, kids: [...new Set(names.map(showValue))], hasNameless }
  })
}

const TEST_KEYS = doubtful(
  'the keys are those of a test authority (npx fastify-tenant-auth authority)',
  'name the issuer of production instead, before strangers can reach the application',
)

function algorithmFinding(
  where: string,
  usable: readonly string[],
  allowed: readonly string[],
): Finding {
  const both = usable.filter((name) => allowed.includes(name))
  if (both.length > 0) return fine(`${where}: usable, for ${both.join(', ')}`)
  return wrong(
    `${where}: no key fits the allowed algorithms ${allowed.join(', ')}; they are for ${usable.join(', ')}`,
    'name the one that the server signs with in algorithms, or take that option away',
  )
}
