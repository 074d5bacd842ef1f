import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose'
import * as oauth from 'oauth4webapi'
import { boundApp } from '../helpers/app/bound-app.ts'
import { authority, RIGHTS } from '../helpers/app/guarded-app.ts'
import { type AnyProof, anyProof, type Bend } from '../helpers/arbitraries/any-proof.ts'
import { holds, PROPERTY_SEED } from '../helpers/arbitraries/property.ts'
import { dpop, hashOf, type ProofKey, PUBLIC, proofKey, proofOf } from '../helpers/tokens/bound.ts'

const COUNT = Number(process.env['DIFFERENTIAL_TOKENS'] ?? 1000)
const NOW = 1_800_000_000

/** As oauth4webapi wants access tokens (RFC 9068). */
async function tokenOf(key: ProofKey, more: object): Promise<string> {
  const cnf = { jkt: key.thumbprint, ...more }
  return authority.token({ cnf, resources: RIGHTS, jti: 'token-1', client_id: 'client-1' })
}

const BENDS: Record<Bend, (proof: string) => string> = {
  none: (proof) => proof,
  letter: (proof) => {
    const at = proof.length - 20
    return proof.slice(0, at) + (proof[at] === 'A' ? 'B' : 'A') + proof.slice(at + 1)
  },
  cut: (proof) => proof.slice(0, -2),
  twice: (proof) => `${proof}, ${proof}`,
  padded: (proof) => `${proof}=`,
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly token: string
  readonly headers: { readonly authorization: string; readonly dpop: string }
}

/** RFC 9449 §4.3 in the words of the RFC, with jose for all of the cryptography. */
async function acceptedByJose({ method, path, token, headers }: Sent, jkt: string) {
  const [scheme = ''] = headers.authorization.split(' ')
  if (scheme.toLowerCase() !== 'dpop') return false
  try {
    const { payload, protectedHeader } = await jwtVerify(headers.dpop, EmbeddedJWK, {
      typ: 'dpop+jwt',
      // Time claims of others are no part of a proof.
      currentDate: new Date(NOW * 1000),
    })
    const { jwk } = protectedHeader
    return (
      jwk !== undefined &&
      (await calculateJwkThumbprint(jwk)) === jkt &&
      payload['htm'] === method &&
      comparable(payload['htu']) === comparable(PUBLIC + path) &&
      typeof payload.iat === 'number' &&
      Math.abs(payload.iat - NOW) <= 300 &&
      typeof payload.jti === 'string' &&
      payload['ath'] === hashOf(token)
    )
  } catch {
    return false
  }
}

/** RFC 3986 §6.2.2 and §6.2.3, in another way than the guard's. */
function comparable(address: unknown): string {
  const { protocol, host, pathname, username } = new URL(String(address))
  const path = pathname.replaceAll(/%../g, (escaped) => {
    const character = Buffer.from(escaped.slice(1), 'hex').toString('latin1')
    return /^[\w.~-]$/.test(character) ? character : escaped.toUpperCase()
  })
  return [protocol, username, host, path].join('|')
}

/** A whole resource server. It asks for the keys of the authority as ours does. */
async function acceptedByOauth4webapi({ method, path, headers }: Sent): Promise<boolean> {
  try {
    const request = new Request(PUBLIC + path, { method, headers })
    await oauth.validateJwtAccessToken(
      { issuer: authority.issuer, jwks_uri: 'https://authority.test/jwks' },
      request,
      authority.audience,
      {
        requireDPoP: true,
        [oauth.customFetch]: async () => Response.json(authority.publicKeys),
      },
    )
    return true
  } catch {
    return false
  }
}

/** Why a proof that the guard accepts may be refused by oauth4webapi. */
const DIVERGENCES: readonly [reason: string, fits: (proof: AnyProof) => boolean][] = [
  ['it takes no second member of cnf', ({ more }) => Object.keys(more).length > 0],
  [
    'it decodes no unreserved character, and compares %xx with its case',
    ({ path, claims }) => `${path}${String(claims['htu'])}`.includes('%'),
  ],
  [
    'it wants exp and nbf of a proof to be times',
    ({ claims }) => 'exp' in claims || 'nbf' in claims,
  ],
  ['it wants iss to be a text', ({ claims }) => 'iss' in claims],
]

/** What both others accept, and the guard refuses. */
const STRICTER: readonly ((proof: AnyProof) => boolean)[] = [
  // An extension of RFC 7797, which counts with `crit` alone.
  ({ header }) => 'b64' in header,
  // One of no characters, or one that came before.
  ({ claims }) => 'jti' in claims,
  // Private members of other types of keys, and members of the wrong type.
  ({ jwk }) => Object.keys(jwk).length > 0,
  // At its very end a table may have forgotten a proof.
  ({ claims }) => claims['iat'] === NOW - 300,
  // To read it may cost more than to verify it.
  ({ header, claims }) => [header, claims].some(isCrowded),
]

function isCrowded(part: object): boolean {
  return Number(JSON.stringify(part).match(/[,[{]/g)?.length) > 50
}

/** Claims that jose reads of any JWT, and RFC 9449 does not name. */
const hasForeignClaims = ({ claims }: AnyProof) => 'exp' in claims || 'nbf' in claims

test(`of ${COUNT} proofs, good and bent, jose and oauth4webapi accept all that the guard accepts`, async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: NOW * 1000 })
  const app = await boundApp(t)
  app.all('/*', async () => 'ok')
  const holders = await Promise.all(['ES256', 'EdDSA', 'PS256', 'RS256', 'ES512'].map(proofKey))
  const stranger = await proofKey()
  const tokens = new Map<string, string>()
  const stricter: string[] = []
  const counts = { guard: 0, jose: 0, oauth4webapi: 0, replayed: 0 }
  const unexplained: string[] = []

  const samples = fc.sample(anyProof(NOW), { numRuns: COUNT, seed: PROPERTY_SEED })
  for (const proof of samples) {
    const holder = holders[proof.holder % holders.length] ?? assert.fail('there is none')
    const { ofHolder, isSigned, header, claims, ofToken, scheme, method, path, more } = proof
    const name = JSON.stringify([holder.thumbprint, more])
    const token = tokens.get(name) ?? (await tokenOf(holder, more))
    tokens.set(name, token)
    const own = ofHolder ? holder : stranger
    const key = { ...own, jwk: Object({ ...own.jwk, ...proof.jwk }) }
    const parts = { header, claims, token: ofToken ? token : 'other', bend: BENDS[proof.bend] }
    const text = proofOf(key, { ...parts, ...(!isSigned && { signer: stranger.pair }) })
    const headers = { ...dpop(token, text), authorization: `${scheme} ${token}` }
    const sent: Sent = { method, path, token, headers }
    const response = await app.inject({ method, url: path, headers })
    assert.ok([200, 401].includes(response.statusCode), `${response.statusCode} for ${text}`)
    const isAccepted = response.statusCode === 200
    const isByJose = await acceptedByJose(sent, holder.thumbprint)
    const isByOauth = await acceptedByOauth4webapi(sent)
    counts.guard += Number(isAccepted)
    counts.jose += Number(isByJose)
    counts.oauth4webapi += Number(isByOauth)
    if (!isAccepted && isByJose && isByOauth && !STRICTER.some((fits) => fits(proof))) {
      stricter.push(`the guard refuses ${text} for ${path}`)
    }
    if (!isAccepted) continue
    if (!isByJose && !hasForeignClaims(proof)) unexplained.push(`jose refuses ${text} for ${path}`)
    if (!isByOauth && !DIVERGENCES.some(([, fits]) => fits(proof))) {
      unexplained.push(`oauth4webapi refuses ${text} for ${path}`)
    }
    const again = await app.inject({ method, url: path, headers })
    counts.replayed += Number(again.statusCode === 200)
  }

  t.diagnostic(`PROPERTY_SEED=${PROPERTY_SEED}, ${JSON.stringify(counts)}`)
  assert.deepEqual(unexplained.slice(0, 5), [])
  assert.deepEqual(stricter.slice(0, 5), [])
  assert.equal(counts.replayed, 0)
  assert.ok(counts.guard > COUNT * 0.1 && counts.guard < COUNT * 0.9, `${counts.guard} accepted`)
})

/** Texts that may stand in a header. */
const anyHeader = fc.oneof(
  fc.string({ maxLength: 60 }).map((text) => text.replaceAll(/[^\x20-\x7e\x80-\xff]/g, '')),
  fc.constantFrom('', ' ', '.', '..', '...', 'DPoP', 'Bearer', 'e30.e30.AA', 'bnVsbA.bnVsbA.', ','),
)

test('whatever stands in the headers beside a bound token, nobody else is let in, and nothing fails', async (t) => {
  const app = await boundApp(t)
  const holder = await proofKey()
  const token = await tokenOf(holder, {})
  await holds(
    t,
    fc.asyncProperty(anyHeader, anyHeader, fc.boolean(), async (before, proof, isParts) => {
      const parts = isParts ? proof.split('').map((letter) => `${letter}AAA`) : [proof]
      const headers = { authorization: `${before} ${token}`, dpop: parts.slice(0, 3).join('.') }
      const { statusCode } = await app.inject({ url: '/me', headers })
      assert.equal(statusCode, 401)
    }),
  )
})

test('whatever the parts of a proof are, it is refused, and nothing fails', async (t) => {
  const app = await boundApp(t)
  const holder = await proofKey()
  const token = await tokenOf(holder, {})
  await holds(
    t,
    fc.asyncProperty(fc.json(), fc.json(), fc.boolean(), async (header, claims, isBoth) => {
      const parts = isBoth ? { header, claims } : { claims }
      const headers = dpop(token, proofOf(holder, { token, ...parts }))
      const { statusCode } = await app.inject({ url: '/me', headers })
      assert.equal(statusCode, 401)
    }),
  )
})
