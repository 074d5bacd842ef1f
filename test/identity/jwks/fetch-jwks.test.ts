import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { FetchedKeys } from '../../../lib/identity/jwks/fetch-jwks.ts'
import type { KeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import { FetchPlaces, type FetchRank } from '../../../lib/platform/http/fetch-places.ts'
import { clock } from '../../../lib/platform/runtime/clock.ts'
import { TimeLimit } from '../../../lib/platform/runtime/timer.ts'
import { until } from '../../helpers/processes/until.ts'
import { askedServer } from '../../helpers/servers/asked-server.ts'
import { forgeKey } from '../../helpers/tokens/forge.ts'

const one = forgeKey('ES256', 'one').publicJwk
const two = forgeKey('ES256', 'two').publicJwk
const OPENID = '/.well-known/openid-configuration'

let asked: string[] = []
let published: Record<string, unknown> = {}
const server = await askedServer((request, response) => {
  const path = request.url ?? ''
  asked.push(path)
  if (Object.hasOwn(published, path)) response.end(JSON.stringify(published[path]))
  else response.writeHead(500).end()
})
const issuer = server.url.slice(0, -1)
beforeEach(() => {
  asked = []
  published = {
    [OPENID]: { issuer, jwks_uri: `${issuer}/keys` },
    '/keys': { keys: [one] },
  }
})

const soon = () => new TimeLimit({ work: 10_000 })

for (const location of [{ url: `${issuer}/keys` }, { issuer }]) {
  const [what] = Object.keys(location)
  test(`the same keys stay the same object, by ${what}`, async () => {
    const source = new FetchedKeys({ location })
    const first = await source.load(soon())
    assert.equal(await source.load(soon()), first)
    published['/keys'] = { keys: [one, two] }
    const second = await source.load(soon())
    assert.notEqual(second, first)
    assert.deepEqual(second.kids, ['one', 'two'])
  })
}

test('each set that is not the one before is emitted', async () => {
  const emitted: KeySet[] = []
  const source = new FetchedKeys({ location: { issuer }, onNew: (set) => emitted.push(set) })
  const first = await source.load(soon())
  await source.load(soon())
  published['/keys'] = { keys: [one, two] }
  const second = await source.load(soon())
  assert.deepEqual(emitted, [first, second])
})

/** Places that tell in which line each fetch stands. */
class ObservedPlaces extends FetchPlaces {
  readonly ranks: FetchRank[] = []

  override run<T>(...[work, fetch]: Parameters<typeof FetchPlaces.prototype.run<T>>): Promise<T> {
    this.ranks.push(fetch.rank)
    return super.run(work, fetch)
  }
}

for (const location of [{ url: `${issuer}/keys` }, { issuer }]) {
  const [what] = Object.keys(location)
  test(`keys by ${what} are proved from a load on, until their server fails, and not by a full line`, async (t) => {
    let now = 0
    t.mock.method(clock, 'now', () => now)
    const places = new ObservedPlaces()
    const source = new FetchedKeys({ location, places })
    const ranks = async (limit = soon()) => {
      // The address in the metadata has grown old.
      now += 3600_000
      const isLoaded = await source.load(limit).then(
        () => true,
        () => false,
      )
      return [isLoaded, ...new Set(places.ranks.splice(0))]
    }
    assert.deepEqual(await ranks(), [true, 'new'])
    assert.deepEqual(await ranks(), [true, 'proved'])
    const over = soon()
    over.abort()
    assert.deepEqual(await ranks(over), [false, 'proved'])
    assert.deepEqual(await ranks(), [true, 'proved'])
    const { '/keys': keys } = published
    Reflect.deleteProperty(published, '/keys')
    assert.deepEqual(await ranks(), [false, 'proved'])
    published['/keys'] = keys
    assert.deepEqual(await ranks(), [true, 'new'])
    assert.deepEqual(await ranks(), [true, 'proved'])
    const own = new FetchedKeys({ location, places, isOwn: true })
    await own.load(soon())
    assert.deepEqual(new Set(places.ranks), new Set(['own']))
  })
}

/** A document that has a number of bytes, by a member that means nothing. */
function padded(document: object, bytes: number): object {
  const { length } = JSON.stringify({ ...document, pad: '' })
  return { ...document, pad: 'x'.repeat(bytes - length) }
}

for (const path of [OPENID, '/keys']) {
  test(`at ${path} a document may have 512 KiB, and no byte more`, async () => {
    const source = new FetchedKeys({ location: { issuer } })
    const document = Object(published[path])
    published[path] = padded(document, 512 * 1024)
    assert.deepEqual((await source.load(soon())).kids, ['one'])
    published[path] = padded(document, 512 * 1024 + 1)
    const again = new FetchedKeys({ location: { issuer } })
    await assert.rejects(again.load(soon()), { message: /the answer is too large$/ })
  })
}

test('only so many load from a host at once, and each fetch of a load takes a place', async (t) => {
  const places = new FetchPlaces()
  const hanging = await askedServer(() => {})
  const limits: TimeLimit[] = []
  t.after(() => {
    for (const limit of limits) limit.abort()
  })
  const load = (url: string, times = { work: 60_000, wait: 60_000 }) => {
    const limit = new TimeLimit(times)
    limits.push(limit)
    const location = url === issuer ? { issuer } : { url }
    const source = new FetchedKeys({ location, places })
    return { limit, source, keys: source.load(limit) }
  }
  const ended = Array.from({ length: 16 }, () =>
    assert.rejects(load(hanging.url).keys, { message: 'no answer in time' }),
  )
  await until(() => hanging.count === 16)
  const impatient = load(hanging.url, { work: 60_000, wait: 50 }).keys
  await assert.rejects(impatient, { message: 'too many other fetches were under way' })
  published[OPENID] = { issuer, jwks_uri: `${hanging.url}keys` }
  const second = load(issuer)
  const refused = assert.rejects(second.keys, { message: 'too many other fetches were under way' })
  await until(() => second.source.url === `${hanging.url}keys`)
  second.limit.abort()
  await refused
  published[OPENID] = { issuer, jwks_uri: `${issuer}/keys` }
  assert.deepEqual((await load(issuer).keys).kids, ['one'])
  assert.equal(hanging.count, 16)
  for (const limit of limits) limit.abort()
  await Promise.all(ended)
})
