import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { decodeJwt } from 'jose'
import { Browser } from '../helpers/processes/browser.ts'
import { type GuardedProcess, startProcesses } from '../helpers/processes/guarded-processes.ts'
import { ENTRY_STORES, type EntryStore } from '../helpers/servers/entry-stores.ts'
import { API, CALLBACK, type OidcServer, startOidcServer } from '../helpers/servers/oidc-server.ts'
import { freePort } from '../helpers/servers/own-server.ts'
import { logOut, userTokens } from '../helpers/tokens/oidc-tokens.ts'

/** Milliseconds. The machine may be busy: the best of so many tries counts. */
const LIMIT = 1000
const TRIES = 5

/** A front end, at whose users' logouts the server asks the first process to end their sessions. */
const frontEnd = (id: string, port: number, hasSession: boolean) => ({
  client_id: id,
  application_type: 'native' as const,
  token_endpoint_auth_method: 'none' as const,
  redirect_uris: [CALLBACK],
  backchannel_logout_uri: `http://127.0.0.1:${port}/backchannel-logout`,
  backchannel_logout_session_required: hasSession,
})

for (const [name, { skip, start }] of Object.entries(ENTRY_STORES)) {
  describe(`the logouts of a real authorization server, kept in ${name}`, { skip }, () => {
    let store: EntryStore
    let server: OidcServer
    let processes: GuardedProcess[]
    before(async () => {
      store = await start()
      const port = await freePort()
      server = await startOidcServer([
        frontEnd('lunch-web', port, true),
        frontEnd('lunch-kiosk', port, false),
      ])
      processes = await startProcesses(
        2,
        store,
        {},
        {
          issuer: { issuer: server.issuer, audience: API, tenants: '*' },
          clients: ['lunch-web', 'lunch-kiosk'],
          port,
        },
      )
    })
    after(async () => {
      for (const process of processes) await process.end()
      await server.close()
      await store.close()
    })

    const statuses = (token: string) =>
      Promise.all(processes.map((process) => process.statusOf(token)))

    /** Logs a user in and out. Returns for how long the token was good then in any process. */
    async function timeOfLogout(clientId: string): Promise<number> {
      const browser = new Browser()
      const { accessToken, idToken } = await userTokens(server, API, { clientId, browser })
      assert.equal('sid' in decodeJwt(accessToken), clientId === 'lunch-web')
      assert.deepEqual(await statuses(accessToken), [200, 200])
      await logOut(server, browser, idToken)
      const begin = performance.now()
      while ((await statuses(accessToken)).includes(200)) {
        assert.equal(performance.now() - begin < 30_000, true, 'the token ends')
      }
      return performance.now() - begin
    }

    /** The least time of several logouts. */
    async function assertFast(t: TestContext, clientId: string): Promise<void> {
      const times: number[] = []
      while (times.length < TRIES && Math.min(...times) > LIMIT) {
        times.push(await timeOfLogout(clientId))
      }
      t.diagnostic(`${times.map(Math.round)} ms`)
      assert.equal(Math.min(...times) <= LIMIT, true, `${times} ms`)
    }

    it('a logout of a session ends its access token in two processes within a second', async (t) => {
      const other = await userTokens(server, API, { clientId: 'lunch-web' })
      await assertFast(t, 'lunch-web')
      assert.deepEqual(await statuses(other.accessToken), [200, 200], 'another session of the user')
    })

    it('where tokens carry no session, it ends those of the user that were issued up to then', async (t) => {
      const other = await userTokens(server, API, { clientId: 'lunch-kiosk' })
      await assertFast(t, 'lunch-kiosk')
      assert.deepEqual(await statuses(other.accessToken), [401, 401], 'another session of the user')
      // `iat` is in whole seconds.
      await new Promise((resolve) => setTimeout(resolve, 1100))
      const later = await userTokens(server, API, { clientId: 'lunch-kiosk' })
      assert.deepEqual(await statuses(later.accessToken), [200, 200])
    })
  })
}
