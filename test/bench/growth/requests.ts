import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { TestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import { type Ask, exchange } from './exchange.ts'
import type { Work } from './measure.ts'

export interface Asker {
  readonly serial: number
  /** The head of the user's name. */
  readonly sub?: string
  /** Of the token; undefined: the authority's. */
  readonly issuer?: string
  readonly audience?: string | string[]
  /** The tenant that is asked for. */
  readonly tenant?: string
  /** Those that it may act for beside that. */
  readonly tenants?: readonly string[]
  /** In the tenant that is asked for. */
  readonly rights?: readonly string[]
  /** Random characters in the token. About 700 in all, as real tokens have, if not given. */
  readonly letters?: number
}

const LETTERS = 128

/** A request with a token of its own. */
export async function asAsked(
  authority: TestAuthority,
  { serial, sub = 'user', tenant = 'acme', letters = LETTERS, ...asker }: Asker,
): Promise<Ask> {
  const { issuer, audience, tenants = [], rights = ['menu:read', 'order:read'] } = asker
  const userInfo = {
    sub: `${sub}-${serial}`,
    preferred_username: `${sub}-${serial}`,
    jti: randomBytes(letters).toString('hex').slice(0, letters),
    resources: {
      ...Object.fromEntries(tenants.map((name) => [name, []])),
      [tenant]: rights,
      '*': ['profile:read'],
    },
  }
  const { authorization } = await authority.headers(userInfo, {
    expiresIn: 86_400,
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  })
  return { url: `/${tenant}/menu`, authorization: Buffer.from(authorization), status: 200 }
}

/** So many requests of different users. A thousand are signed together. */
export async function asksOf(
  authority: TestAuthority,
  count: number,
  about: (serial: number) => Omit<Asker, 'serial'> = () => ({}),
): Promise<Ask[]> {
  const asks: Ask[] = []
  while (asks.length < count) {
    const some = Array.from({ length: Math.min(1_000, count - asks.length) }, (_, i) => {
      const serial = asks.length + i
      return asAsked(authority, { serial, ...about(serial) })
    })
    asks.push(...(await Promise.all(some)))
  }
  return asks
}

/** The requests in turn, and from the first again; each time so many at once. */
export function asking(app: FastifyInstance, asks: readonly Ask[], atOnce = 1): Work {
  let next = 0
  const one = async () => {
    const ask = asks[next]
    if (ask === undefined) throw new Error('there is no request')
    next = (next + 1) % asks.length
    const status = await exchange(app, ask)
    if (status !== ask.status) throw new Error(`answered with ${status}`)
  }
  if (atOnce === 1) {
    return async (times) => {
      for (let i = 0; i < times; i++) await one()
    }
  }
  return async (times) => {
    for (let i = 0; i < times; i++) await Promise.all(Array.from({ length: atOnce }, one))
  }
}
