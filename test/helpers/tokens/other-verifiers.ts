import { JwtVerifier } from 'aws-jwt-verify'
import { createVerifier } from 'fast-jwt'
import { createLocalJWKSet, jwtVerify } from 'jose'
import type { ForgeKey } from './forge.ts'
import { AUDIENCE, ISSUER } from './probe.ts'

/** Whether a verifier accepts a token. */
export type Verifier = (token: string) => Promise<boolean>

const TOLERANCE = 5

/** Other implementations, each used as its README says, with the same keys, issuer and audience. */
export function otherVerifiers(keys: readonly ForgeKey[]) {
  return { jose: jose(keys), aws: aws(keys), fastJwt: fastJwt(keys) }
}

function jose(keys: readonly ForgeKey[]): Verifier {
  const keySet = createLocalJWKSet({ keys: jwksOf(keys) })
  const options = { issuer: ISSUER, audience: AUDIENCE, clockTolerance: TOLERANCE }
  return (token) => accepts(() => jwtVerify(token, keySet, options))
}

function aws(keys: readonly ForgeKey[]): Verifier {
  const verifier = JwtVerifier.create({
    issuer: ISSUER,
    audience: AUDIENCE,
    jwksUri: `${ISSUER}/keys`,
    graceSeconds: TOLERANCE,
  })
  verifier.cacheJwks({ keys: jwksOf(keys) })
  return (token) => accepts(async () => verifier.verifySync(token))
}

function fastJwt(keys: readonly ForgeKey[]): Verifier {
  const pems = keys.map((key) => {
    const pem = key.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    return { kid: key.kid, alg: key.alg, pem }
  })
  const verify = createVerifier({
    // Its user must find the key: by `kid`, or without one by `alg`.
    key: async ({ header }: { header: { kid?: unknown; alg?: unknown } }) => {
      const { kid, alg } = header
      const found = pems.find((key) => (kid === undefined ? key.alg === alg : key.kid === kid))
      if (found === undefined) throw new Error('no such key')
      return found.pem
    },
    algorithms: ['RS256', 'ES256', 'EdDSA'],
    allowedIss: ISSUER,
    allowedAud: AUDIENCE,
    clockTolerance: TOLERANCE * 1000,
  })
  return (token) => accepts(() => verify(token))
}

function jwksOf(keys: readonly ForgeKey[]) {
  return keys.map(({ publicJwk: { kty = '', ...jwk } }) => ({ ...jwk, kty, use: 'sig' as const }))
}

async function accepts(verify: () => Promise<unknown>): Promise<boolean> {
  try {
    await verify()
    return true
  } catch {
    return false
  }
}
