import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type DenyList, denyList } from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'

/** The sessions of a user that the application has noted, each by its `sid`. */
export type SessionsOf = (issuer: string | null, sub: string | null) => Promise<string[]>

export async function useLogout(
  app: FastifyInstance,
  options: AuthOptions,
  sessionsOf: SessionsOf,
  revoked: DenyList = denyList(),
): Promise<void> {
  await app.register(tenantAuth, { ...options, isRevoked: revoked })
  const config = { authorization: true } as const

  // This session; without a `sid`, this token alone.
  app.post('/logout', { config }, async ({ authorization }) => {
    const { userInfo, tokenSub: sub, issuer } = authorization
    const { sid, jti } = userInfo
    if (sub === null) throw new Error('the tokens name no user')
    if (typeof sid === 'string') await revoked.add({ sid, sub, issuer })
    else if (typeof jti === 'string') await revoked.add({ jti, sub, issuer })
    else throw new Error('the tokens name neither a session nor themselves')
    return 'logged out'
  })

  // Everywhere. The answer comes in the next second, from which on a new login counts.
  app.post('/logout/everywhere', { config }, async ({ authorization }) => {
    const { tokenSub: sub, issuer } = authorization
    if (sub === null) throw new Error('the tokens name no user')
    const end = nextSecond()
    await revoked.add({ sub, issuer, issuedBefore: end })
    await setTimeout(end.getTime() - Date.now())
    return 'logged out everywhere'
  })

  // Everywhere but here: each session of the user that the application has noted.
  app.post('/logout/elsewhere', { config }, async ({ authorization }) => {
    const { userInfo, tokenSub: sub, issuer } = authorization
    if (sub === null) throw new Error('the tokens name no user')
    const others = (await sessionsOf(issuer, sub)).filter((sid) => sid !== userInfo['sid'])
    await Promise.all(others.map((sid) => revoked.add({ sid, sub, issuer })))
    return 'logged out elsewhere'
  })
}

/** `iat` is in whole seconds: what was issued in this one falls too. */
function nextSecond(): Date {
  return new Date((Math.floor(Date.now() / 1000) + 1) * 1000)
}
