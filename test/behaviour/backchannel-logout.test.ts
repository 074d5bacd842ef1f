import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type BackchannelLogoutOptions,
  type DenyEntry,
  denyList,
  type KeptEntry,
} from '../../lib/entrypoints/revocation/index.ts'
import { errors } from '../../lib/index.ts'
import { heard } from '../helpers/app/heard.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { CLIENT, formOf, logoutApp, logoutToken, URL_OF_LOGOUT } from '../helpers/app/logout-app.ts'
import { stopClocks } from '../helpers/tokens/denied.ts'
import { forgeKey } from '../helpers/tokens/forge.ts'
import { goodToken, ISSUER, KEY } from '../helpers/tokens/probe.ts'

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0, 600)
const SECOND = Math.floor(NOW / 1000)

const stopDate = (t: TestContext) => t.mock.timers.enable({ apis: ['Date'], now: NOW })

/** A list that keeps what it is given to store. */
function keepingList() {
  const kept: KeptEntry[] = []
  const changes = async () => ({ entries: kept, cursor: 1 })
  return { kept, list: denyList({ changes, append: (entry) => void kept.push(entry) }) }
}

test('a logout of a session ends the tokens of that session, and no others', async (t) => {
  const { logOut, status } = await logoutApp(t)
  assert.equal(await status(), 200)
  const response = await logOut(logoutToken())
  assert.deepEqual([response.statusCode, response.body], [200, ''])
  assert.equal(response.headers['cache-control'], 'no-store')
  assert.equal(await status(), 401)
  assert.equal(await status({ sub: 'bob' }), 401, 'the session is that of whoever is in it')
  assert.equal(await status({ sid: 's2' }), 200)
  assert.equal(await status({ sid: undefined }), 200)
})

test('a logout of a user ends what was issued up to then, and a login after this second is good', async (t) => {
  stopDate(t)
  const { logOut, status } = await logoutApp(t)
  assert.equal((await logOut(logoutToken({ sid: undefined }))).statusCode, 200)
  for (const iat of [SECOND - 100, SECOND]) assert.equal(await status({ iat }), 401)
  assert.equal(await status({ sid: 's2' }), 401)
  assert.equal(await status({ sub: 'bob' }), 200)
  t.mock.timers.setTime(NOW + 400)
  assert.equal(await status({ iat: SECOND + 1 }), 200)
})

const SID = { issuer: ISSUER, sid: 's1' }
const SUB = { issuer: ISSUER, sub: 'alice', issuedBefore: new Date((SECOND + 1) * 1000) }

/** The option `sessionless`, what a logout token names, and its entries. */
const ENTRIES: readonly [
  sessionless: BackchannelLogoutOptions['sessionless'],
  names: object,
  entries: DenyEntry[],
][] = [
  [undefined, {}, [SID]],
  [undefined, { sub: undefined }, [SID]],
  [undefined, { sid: undefined }, [SUB]],
  ['subject', {}, [SID, SUB]],
  ['subject', { sub: undefined }, [SID]],
  ['subject', { sid: undefined }, [SUB]],
  [[ISSUER], {}, [SID, SUB]],
  [['https://b.test', ISSUER], {}, [SID, SUB]],
  [['https://b.test'], {}, [SID]],
  [['https://b.test'], { sid: undefined }, [SUB]],
]

for (const [sessionless, names, entries] of ENTRIES) {
  const named = JSON.stringify({ sub: 'alice', sid: 's1', ...names })
  test(`with sessionless ${sessionless} a logout token of ${named} makes ${entries.length} entries`, async (t) => {
    stopDate(t)
    const { kept, list } = keepingList()
    const { logOut } = await logoutApp(t, {
      revoked: list,
      auth: { issuer: [ISSUER, 'https://b.test'] },
      plugin: sessionless === undefined ? {} : { sessionless },
    })
    assert.equal((await logOut(logoutToken(names))).statusCode, 200)
    const found = kept.map((entry) => ({ ...entry }))
    assert.deepEqual(found, entries)
  })
}

test('with sessionless the other sessions of the user end too, and access tokens without sid', async (t) => {
  stopDate(t)
  const { logOut, status } = await logoutApp(t, { plugin: { sessionless: 'subject' } })
  assert.equal((await logOut(logoutToken())).statusCode, 200)
  for (const sid of ['s1', 's2', undefined]) assert.equal(await status({ sid }), 401)
  assert.equal(await status({ sub: 'bob', sid: undefined }), 200)
})

test('a logout token that is sent again changes nothing', async (t) => {
  const { logOut, revoked } = await logoutApp(t, { plugin: { sessionless: 'subject' } })
  const token = logoutToken()
  for (let time = 0; time < 3; time++) assert.equal((await logOut(token)).statusCode, 200)
  assert.equal(revoked.size(), 2)
})

test('an issuer logs out its own users only', async (t) => {
  const OTHER = forgeKey('ES256', 'probe')
  const other = { iss: 'https://acme.test' }
  const trusted = (issuer: string, { publicJwk }: typeof KEY, tenants: '*' | string[]) => ({
    ...{ issuer, tenants, audience: 'api' },
    publicKeys: { keys: [publicJwk] },
  })
  const issuers = [trusted(ISSUER, KEY, '*'), trusted(other.iss, OTHER, ['acme'])]
  for (const given of [
    issuers,
    (iss: string) => issuers.find(({ issuer }) => issuer === iss) ?? null,
  ]) {
    const { app, logOut } = await logoutApp(t, { auth: { issuers: given } })
    const status = async (over: object, key = KEY) => {
      const token = goodToken({ sid: 's1', ...over }, {}, key)
      return (await app.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } }))
        .statusCode
    }
    for (const names of [{}, { sid: undefined }]) {
      assert.equal((await logOut(logoutToken({ ...other, ...names }))).statusCode, 400, 'its name')
      const foreign = logoutToken(names, {}, OTHER)
      assert.equal((await logOut(foreign)).statusCode, 400, 'its key')
      const stranger = logoutToken({ ...names, iss: 'https://stranger.test' }, {}, OTHER)
      assert.equal((await logOut(stranger)).statusCode, 400)
      assert.equal((await logOut(logoutToken({ ...other, ...names }, {}, OTHER))).statusCode, 200)
    }
    assert.equal(await status(other, OTHER), 401)
    assert.equal(await status({}), 200, 'the same user and session of the operator')
  }
})

test('the message of a logout says who, what became of it, and why', async (t) => {
  const messages = heard(t, 'logout')
  const { logOut, post } = await logoutApp(t)
  await logOut(logoutToken())
  await logOut(logoutToken({ sub: undefined, sid: 's2' }))
  await logOut(logoutToken({ aud: 'other' }))
  await post('a=b')
  await post('x'.repeat(20_000))
  await post('{}', { 'content-type': 'application/json' })
  const nobody = { issuer: null, sub: null, sid: null, outcome: 'refused' }
  const good = { issuer: ISSUER, outcome: 'accepted', reason: null }
  assert.deepEqual(
    messages.map((message) => ({ ...message })),
    [
      { ...good, sub: 'alice', sid: 's1' },
      { ...good, sub: null, sid: 's2' },
      { ...nobody, reason: 'the audience is not accepted' },
      { ...nobody, reason: 'no logout_token' },
      { ...nobody, reason: 'the body is too large' },
      { ...nobody, reason: 'the body is no form' },
    ],
  )
  assert.equal(messages.every(Object.isFrozen), true)
})

test('a refused logout has one line in the log, which shows no claim but at the level debug', async (t) => {
  for (const level of ['info', 'debug']) {
    const { logger, lines, raw } = logLines(level)
    const { logOut, post } = await logoutApp(t, { logger })
    await logOut(logoutToken({ aud: 'secret-client' }))
    await post('{}', { 'content-type': 'application/json' })
    const found = lines('logout refused').map((line) => [line.level, line['code'], line['reason']])
    assert.deepEqual(found, [
      [30, 'ERR_AUTH_TOKEN_INVALID', 'the audience is not accepted'],
      [30, 'FST_ERR_CTP_INVALID_MEDIA_TYPE', 'the body is no form'],
    ])
    const shown = raw.some((each) => each.includes('secret-client'))
    assert.equal(shown, level === 'debug')
    const seen = raw.some((each) => each.includes('eyJ'))
    assert.equal(seen, false)
  }
})

test('200 comes after the entry is kept, and not before', async (t) => {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  const changes = async () => ({ entries: [], cursor: 1 })
  const { logOut } = await logoutApp(t, {
    revoked: denyList({ changes, append: () => promise }),
  })
  let answered: number | undefined
  const answer = logOut(logoutToken()).then(({ statusCode }) => {
    answered = statusCode
  })
  await new Promise((done) => setTimeout(done, 50))
  assert.equal(answered, undefined)
  resolve()
  await answer
  assert.equal(answered, 200)
})

test('a refusal for long is given in whole seconds, of one at least', async (t) => {
  for (const [after, seconds] of [
    [2.1, '3'],
    [0, '1'],
  ] as const) {
    const revoked = denyList()
    const fail = async () => Promise.reject(new errors.ERR_AUTH_REVOCATION_UNAVAILABLE(after, 'x'))
    const list: typeof revoked = Object.assign(revoked, { add: fail })
    const { logOut } = await logoutApp(t, { revoked: list })
    const response = await logOut(logoutToken())
    assert.deepEqual([response.statusCode, response.headers['retry-after']], [503, seconds])
  }
})

test('a logout whose entry cannot be kept is 503, and counts in this process', async (t) => {
  const messages = heard(t, 'logout')
  const fail = () => Promise.reject(new Error('the words of a driver'))
  const changes = async () => ({ entries: [], cursor: 1 })
  const lists = [denyList({ changes, append: fail }), denyList({ changes })]
  for (const revoked of lists) {
    const { logOut, status } = await logoutApp(t, { revoked })
    await revoked.ready()
    const response = await logOut(logoutToken())
    const found = [response.statusCode, response.body]
    assert.deepEqual(found, [503, '{"error":"temporarily_unavailable"}'])
    assert.equal(response.headers['retry-after'], '1')
    assert.equal(response.headers['cache-control'], 'no-store')
    assert.equal(await status(), 401)
  }
  assert.deepEqual(
    messages.map(({ sub, outcome, reason }) => [sub, outcome, reason]),
    [
      ['alice', 'unavailable', 'append failed (Error)'],
      ['alice', 'unavailable', 'there is no append'],
    ],
  )
})

test('a store that does not answer makes a logout 503', async (t) => {
  const changes = async () => ({ entries: [], cursor: 1 })
  const never = () => new Promise<never>(() => {})
  const { app, logOut, post } = await logoutApp(t, {
    revoked: denyList({ changes, append: never }),
  })
  await app.ready()
  const { pass } = stopClocks(t)
  const late = logOut(logoutToken())
  await pass(20_000)
  assert.equal((await late).statusCode, 503)
  // The application does not wait for it when it closes.
  const open = post(formOf(logoutToken({ jti: 'j2', sid: 's2' })))
  await pass(20, 1)
  await app.close()
  assert.equal((await open).statusCode, 503)
})

test('the route of logouts is for the clients that are named, at its address', async (t) => {
  const { app } = await logoutApp(t, { plugin: { clients: ['a', 'b'], url: '/out' } })
  const post = async (url: string, aud: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const payload = formOf(logoutToken({ aud }))
    return (await app.inject({ method: 'POST', url, headers, payload })).statusCode
  }
  assert.deepEqual([await post('/out', 'a'), await post('/out', 'b')], [200, 200])
  assert.deepEqual([await post('/out', CLIENT), await post(URL_OF_LOGOUT, 'a')], [400, 404])
})
