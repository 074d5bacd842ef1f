import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { heard } from '../helpers/app/heard.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { logoutApp, logoutToken } from '../helpers/app/logout-app.ts'
import { until } from '../helpers/processes/until.ts'
import { portOf } from '../helpers/servers/asked-server.ts'
import { KeyServer } from '../helpers/servers/key-server.ts'
import { forgeKey } from '../helpers/tokens/forge.ts'
import { AUDIENCE, ISSUER, KEY } from '../helpers/tokens/probe.ts'

/** Outages in which no logout can be decided. */
const OUTAGES: readonly [what: string, auth: (url: string) => AuthOptions][] = [
  ['the keys cannot be had', (url) => ({ publicKeysUrl: url })],
  [
    'the issuer cannot be discovered',
    (url) => ({ issuers: [{ issuer: new URL(url).origin, tenants: '*' }] }),
  ],
  [
    'the function of issuers fails',
    () => ({ issuers: () => Promise.reject(new Error('no database')) }),
  ],
  ['the function of issuers answers oddly', () => ({ issuers: () => Object({ tenants: [] }) })],
  [
    'the function of issuers is late',
    () => ({ issuers: () => new Promise(() => {}), tenantsTimeout: 0.05 }),
  ],
]

for (const [what, auth] of OUTAGES) {
  test(`while ${what} a logout is 503`, async (t) => {
    const server = await KeyServer.start(() => ({}))
    t.after(() => server.close())
    await server.fail('status 500')
    const options = auth(server.url)
    const { logger, lines } = logLines()
    const { logOut } = await logoutApp(t, { auth: options, logger })
    const iss = Array.isArray(options.issuers) ? new URL(server.url).origin : ISSUER
    const response = await logOut(logoutToken({ iss }))
    const found = [response.statusCode, response.body]
    assert.deepEqual(found, [503, '{"error":"temporarily_unavailable"}'])
    assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/)
    assert.equal(response.headers['cache-control'], 'no-store')
    const [line, ...others] = lines('logout refused')
    assert.deepEqual([line?.level, others], [40, []])
    assert.match(String(line?.['code']), /^ERR_AUTH_(?:KEYS|ISSUERS)_UNAVAILABLE$/)
    assert.notEqual(String(line?.['reason'] ?? ''), '', 'it has a reason')
  })
}

test('2 000 forged logout tokens cause one fetch, and the function of issuers is asked for none that no signature can save', async (t) => {
  const server = await KeyServer.start(() => ({ keys: [KEY.publicJwk] }))
  t.after(() => server.close())
  const { logOut } = await logoutApp(t, { auth: { publicKeysUrl: server.url } })
  assert.equal((await logOut(logoutToken())).statusCode, 200)
  assert.equal(server.fetches, 1)
  const statuses = new Set<number>()
  for (let sent = 0; sent < 2000; sent += 100) {
    const forged = Array.from({ length: 100 }, (_, index) =>
      logoutToken({}, { kid: `k${sent + index}` }),
    )
    for (const { statusCode } of await Promise.all(forged.map((token) => logOut(token))))
      statuses.add(statusCode)
  }
  assert.deepEqual([[...statuses], server.fetches], [[400], 2])
  const asked: string[] = []
  const issuers = (iss: string) => {
    asked.push(iss)
    return null
  }
  const dynamic = await logoutApp(t, { auth: { issuers } })
  for (const alg of ['none', 'HS256']) {
    assert.equal((await dynamic.logOut(logoutToken({}, { alg }))).statusCode, 400)
  }
  assert.deepEqual(asked, [])
  for (let time = 0; time < 2; time++)
    assert.equal((await dynamic.logOut(logoutToken())).statusCode, 400)
  assert.deepEqual(asked, [ISSUER])
})

test('an issuer by function logs out, by its own algorithms', async (t) => {
  const answer = {
    tenants: '*' as const,
    audience: AUDIENCE,
    publicKeys: { keys: [KEY.publicJwk] },
  }
  const good = await logoutApp(t, { auth: { issuers: async () => answer } })
  assert.equal((await good.logOut(logoutToken())).statusCode, 200)
  assert.equal(await good.status(), 401)
  const other = await logoutApp(t, {
    auth: { issuers: () => ({ ...answer, algorithms: ['EdDSA'] }) },
  })
  assert.equal((await other.logOut(logoutToken())).statusCode, 400)
})

test('an issuer by function that is trusted no more when its keys have come logs nobody out', async (t) => {
  const { promise, release } = held()
  let fetches = 0
  const server = createServer(async (_request, response) => {
    fetches += 1
    await promise
    response.end(JSON.stringify({ keys: [KEY.publicJwk] }))
  })
  const publicKeysUrl = `http://127.0.0.1:${await portOf(server)}/keys`
  t.after(() => server.close())
  let isThere = true
  const { logOut } = await logoutApp(t, {
    auth: {
      issuers: () => (isThere ? { tenants: '*', audience: AUDIENCE, publicKeysUrl } : null),
      allowPrivateIssuers: true,
      issuersMaxAge: 0.05,
    },
  })
  const answer = logOut(logoutToken())
  await until(() => fetches > 0)
  isThere = false
  await new Promise((resolve) => setTimeout(resolve, 100))
  release()
  assert.equal((await answer).statusCode, 400)
})

test('an issuer that has proved a logout is not displaced by one that has proved nothing', async (t) => {
  const asked: string[] = []
  const publicKeys = { keys: [KEY.publicJwk] }
  const { logOut } = await logoutApp(t, {
    auth: {
      issuers: (iss) => {
        asked.push(iss)
        return { tenants: '*', audience: AUDIENCE, publicKeys }
      },
      issuersMax: 1,
    },
  })
  const stranger = forgeKey('ES256', 'probe')
  assert.equal((await logOut(logoutToken())).statusCode, 200)
  // More than there are places for those that have proved nothing.
  for (let at = 0; at < 100; at++) {
    const forged = logoutToken({ iss: `https://issuer-${at}.test` }, {}, stranger)
    assert.equal((await logOut(forged)).statusCode, 400)
  }
  assert.equal((await logOut(logoutToken())).statusCode, 200)
  assert.equal(asked.filter((iss) => iss === ISSUER).length, 1)
})

test('a logout whose entry is not stored yet is 503 when the application closes', async (t) => {
  const events = heard(t, 'logout')
  let isAppending = false
  const append = () => {
    isAppending = true
    return new Promise(() => {})
  }
  const revoked = denyList({ changes: () => ({ entries: [], cursor: 0 }), append })
  const { app, logOut } = await logoutApp(t, { revoked })
  const answer = logOut(logoutToken())
  await until(() => isAppending)
  await app.close()
  assert.equal((await answer).statusCode, 503)
  const found = events.map(({ outcome, reason }) => [outcome, reason])
  assert.deepEqual(found, [['unavailable', 'the application closes']])
})

function held() {
  let release = (): void => {}
  const promise = new Promise<void>((resolve) => {
    release = resolve
  })
  return { promise, release }
}
