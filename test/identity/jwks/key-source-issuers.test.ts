import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { RemoteKeys, type RemoteKeysOptions } from '../../../lib/identity/jwks/key-source.ts'
import { FetchPlaces } from '../../../lib/platform/http/fetch-places.ts'
import { TimeLimit } from '../../../lib/platform/runtime/timer.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'
import { until } from '../../helpers/processes/until.ts'
import { askedServer } from '../../helpers/servers/asked-server.ts'
import { forgeKey } from '../../helpers/tokens/forge.ts'

const one = forgeKey('ES256', 'one').publicJwk
const two = forgeKey('ES256', 'two').publicJwk
const OPENID = '/.well-known/openid-configuration'
const DEFAULTS = { timeout: 60, maxAge: 600, maxStale: 3600, retry: 1, retryMax: 30, cooldown: 30 }

/** A discovered issuer on a clock that moves by hand. What is published at `null` hangs. */
async function issuerKeys(t: TestContext, options: Partial<RemoteKeysOptions> = {}) {
  holdTime(t, { apis: ['Date'], now: Date.now() })
  const asked: string[] = []
  const published: Record<string, unknown> = { '/keys': { keys: [one] } }
  const { url } = await askedServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const body = published[path]
    if (body === undefined) response.writeHead(500).end()
    else if (body !== null) response.end(JSON.stringify(body))
  })
  const issuer = url.slice(0, -1)
  const moveKeys = (path: string) => {
    published[OPENID] = { issuer, jwks_uri: `${issuer}${path}` }
  }
  moveKeys('/keys')
  const failures: string[] = []
  const source = new RemoteKeys(
    { ...DEFAULTS, location: { issuer }, ...options },
    { onFailure: (reason, address) => failures.push(`${reason} @ ${address}`) },
  )
  t.after(() => source.close())
  const pass = (seconds: number) => t.mock.timers.setTime(Date.now() + seconds * 1000)
  return { issuer, asked, published, moveKeys, failures, source, pass }
}

test('the metadata is read with a refresh, hourly, and then the new address counts', async (t) => {
  const { asked, published, moveKeys, source, pass } = await issuerKeys(t)
  source.open()
  assert.deepEqual((await source.settled())?.kids, ['one'])
  assert.deepEqual(asked, [OPENID, '/keys'])
  moveKeys('/new')
  published['/new'] = { keys: [two] }
  for (let refresh = 1; refresh <= 7; refresh++) {
    pass(480)
    source.current()
    await until(() => source.state().age === 0)
    assert.equal(asked.length, 2 + refresh)
  }
  assert.deepEqual(source.current()?.kids, ['one'])
  pass(480)
  source.current()
  await until(() => source.state().age === 0)
  assert.deepEqual(asked.slice(-2), [OPENID, '/new'])
  assert.deepEqual(source.current()?.kids, ['two'])
})

for (const path of [OPENID, '/keys']) {
  test(`one time limit holds for both steps: ${path} hangs`, async (t) => {
    const { published, source } = await issuerKeys(t, { timeout: 0.1 })
    published[path] = null
    source.open()
    assert.equal(await source.settled(), undefined)
    assert.match(source.state().failure ?? '', /no answer in time$/)
  })
}

/** Places of which the host of the keys has none left, until the returned function is called. */
function takenPlaces(url: string) {
  const places = new FetchPlaces()
  const limit = new TimeLimit({ work: 60_000, wait: 60_000 })
  const take = { url, rank: 'own', limit } as const
  const all = Array.from({ length: 16 }, () =>
    places.run(() => once(limit.signal, 'abort'), take).catch(() => {}),
  )
  const free = async () => {
    limit.abort()
    await Promise.all(all)
  }
  return { places, free }
}

test('the wait for a place has a time of its own, and then the load fails', async (t) => {
  const { issuer, asked, failures } = await issuerKeys(t)
  const { places, free } = takenPlaces(issuer)
  const options = { ...DEFAULTS, location: { issuer }, places, timeout: 60, patience: 0.1 }
  const source = new RemoteKeys(options, { onFailure: (reason) => failures.push(reason) })
  t.after(() => source.close())
  source.open()
  assert.equal(await source.settled(), undefined)
  const failure = 'too many other fetches were under way'
  assert.equal(source.state().failure, failure)
  assert.deepEqual(asked, [])
  await free()
})

test('closing ends the wait for a place, in silence', async (t) => {
  const { issuer, asked, failures } = await issuerKeys(t)
  const { places, free } = takenPlaces(issuer)
  const options = { ...DEFAULTS, location: { issuer }, places, patience: 60 }
  const source = new RemoteKeys(options, { onFailure: (reason) => failures.push(reason) })
  source.open()
  const waiting = source.settled()
  await setImmediate()
  source.close()
  assert.equal(await waiting, undefined)
  await free()
  assert.deepEqual([asked, failures], [[], []])
})

/**
 * What a server answers in place of a document. It may come from anything on the way, so it is as
 * if the server were away, and brings nothing: in this it differs from a function's answer.
 */
const IN_PLACE: readonly [what: string, path: string, body: object][] = [
  [
    'metadata of another issuer',
    OPENID,
    { issuer: 'https://other.test', jwks_uri: 'https://other.test/keys' },
  ],
  ['metadata without an address', OPENID, {}],
  ['a list of keys that is empty', '/keys', { keys: [] }],
  ['no keys', '/keys', {}],
]

for (const [what, path, body] of IN_PLACE) {
  test(`where there is ${what}, the last good keys serve for their stale time, and no longer`, async (t) => {
    const { published, failures, source, pass } = await issuerKeys(t)
    source.open()
    await source.settled()
    published[path] = body
    for (const [seconds, kids] of [
      [3601, ['one']],
      [598, ['one']],
      [1, undefined],
    ] as const) {
      const before = failures.length
      pass(seconds)
      assert.deepEqual(source.current()?.kids, kids)
      if (kids !== undefined) await until(() => failures.length > before)
    }
  })
}
