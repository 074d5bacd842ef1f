import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, type TestContext, test } from 'node:test'
import { Discovery, isDiscoverable } from '../../../lib/identity/jwks/discovery.ts'
import { Unusable } from '../../../lib/platform/http/failure.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'
import { askedServer } from '../../helpers/servers/asked-server.ts'

type Answer = (response: ServerResponse) => void

const OPENID = '/.well-known/openid-configuration'
const JWKS_URI = 'https://login.test/keys'

let asked: string[] = []
let answers: Record<string, Answer> = {}
const server = await askedServer((request, response) => {
  const path = request.url ?? ''
  asked.push(path)
  const answer = answers[path]
  if (answer) answer(response)
  else response.writeHead(404).end()
})
after(() => server.close())
const origin = server.url.slice(0, -1)

/** From now on the server answers so at each path, and 404 elsewhere. */
function serve(routes: Record<string, Answer>): void {
  asked = []
  answers = routes
}

const body =
  (text: string): Answer =>
  (response) =>
    void response.end(text)

const json = (value: unknown): Answer => body(JSON.stringify(value))

const limits = (signal = AbortSignal.timeout(10_000)) => ({ maxBytes: 512 * 1024, signal })

/** The address that an issuer's metadata names. */
const discovered = (issuer: string, signal?: AbortSignal) =>
  new Discovery(issuer).locate(limits(signal), async (url) => url)

async function failure(discovering: Promise<unknown>): Promise<string> {
  const error = await discovering.then(
    (address) => assert.fail(`discovered ${address}`),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof Unusable, `not usable: ${error}`)
  return error.message
}

for (const [issuer, path] of [
  ['', OPENID],
  ['/', OPENID],
  ['/realms/staff', `/realms/staff${OPENID}`],
  ['/realms/staff/', `/realms/staff${OPENID}`],
] as const) {
  test(`the metadata of an issuer with the path "${issuer}" is at ${path}`, async () => {
    serve({ [path]: json({ issuer: `${origin}${issuer}`, jwks_uri: JWKS_URI }) })
    assert.equal(await discovered(`${origin}${issuer}`), JWKS_URI)
    assert.deepEqual(asked, [path])
    assert.equal(new Discovery(`${origin}${issuer}`).url, `${origin}${path}`)
  })
}

for (const [issuer, path] of [
  ['', '/.well-known/oauth-authorization-server'],
  ['/', '/.well-known/oauth-authorization-server'],
  ['/realms/staff', '/.well-known/oauth-authorization-server/realms/staff'],
  ['/realms/staff/', '/.well-known/oauth-authorization-server/realms/staff'],
] as const) {
  test(`after a 404 that of the path "${issuer}" is at ${path}`, async () => {
    serve({ [path]: json({ issuer: `${origin}${issuer}`, jwks_uri: JWKS_URI }) })
    assert.equal(await discovered(`${origin}${issuer}`), JWKS_URI)
    assert.equal(asked.length, 2)
  })
}

test('where neither is there, the reason says so', async () => {
  serve({})
  const reason = 'no discovery document: answered with status 404'
  assert.equal(await failure(discovered(origin)), reason)
  assert.equal(asked.length, 2)
})

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end(JSON.stringify({ issuer: origin }))

const elsewhere = { location: `${origin}/elsewhere` }

for (const [what, answer, reason] of [
  ['a failure', status(500), 'answered with status 500'],
  ['a refusal', status(403), 'answered with status 403'],
  ['what is gone', status(410), 'answered with status 410'],
  ['a redirect', status(302, elsewhere), 'answered with status 302'],
  ['a permanent redirect', status(308, elsewhere), 'answered with status 308'],
  ['a page', body('<!doctype html>'), 'the answer is not JSON'],
  ['a reset', (response: ServerResponse) => void response.destroy(), 'no answer (UND_ERR_SOCKET)'],
] as const) {
  test(`after ${what} nothing else is tried`, async () => {
    const good = json({ issuer: origin, jwks_uri: JWKS_URI })
    const second = { '/.well-known/oauth-authorization-server': good, '/elsewhere': good }
    serve({ [OPENID]: answer, ...second })
    assert.equal(await failure(discovered(origin)), `no discovery document: ${reason}`)
    assert.deepEqual(asked, [OPENID])
  })
}

const of = (members: object) => ({ issuer: origin, jwks_uri: JWKS_URI, ...members })
const ANOTHER = 'the discovery document is of another issuer'
const UNSAFE = 'the discovered jwks_uri is no https URL that can be used'
const NONE = 'the discovery document has no jwks_uri'

const BAD: readonly (readonly [what: string, document: unknown, reason: string])[] = [
  ['another issuer', of({ issuer: 'https://login.test' }), ANOTHER],
  ['the issuer with a slash', of({ issuer: `${origin}/` }), ANOTHER],
  ['the issuer in capitals', of({ issuer: origin.toUpperCase() }), ANOTHER],
  ['the issuer with white space', of({ issuer: `${origin} ` }), ANOTHER],
  ['the issuer in a list', of({ issuer: [origin] }), ANOTHER],
  ['no issuer', { jwks_uri: JWKS_URI }, ANOTHER],
  ['no jwks_uri', { issuer: origin }, NONE],
  ['a jwks_uri that is a list', of({ jwks_uri: [JWKS_URI] }), NONE],
  ['a jwks_uri that is null', of({ jwks_uri: null }), NONE],
  ['a jwks_uri over plain http', of({ jwks_uri: 'http://login.test/keys' }), UNSAFE],
  ['a jwks_uri over http at a look-alike', of({ jwks_uri: 'http://localhost.test/' }), UNSAFE],
  ['a jwks_uri over http at a private address', of({ jwks_uri: 'http://10.0.0.1/' }), UNSAFE],
  ['a jwks_uri with credentials', of({ jwks_uri: 'https://user:secret@login.test/' }), UNSAFE],
  ['a jwks_uri with a user', of({ jwks_uri: 'https://user@login.test/' }), UNSAFE],
  ['a jwks_uri that is a path', of({ jwks_uri: '/keys' }), UNSAFE],
  ['a jwks_uri of a file', of({ jwks_uri: 'file:///etc/keys' }), UNSAFE],
  ['a jwks_uri of data', of({ jwks_uri: 'data:application/json,{"keys":[]}' }), UNSAFE],
  ['a jwks_uri that is no URL', of({ jwks_uri: 'https://' }), UNSAFE],
  ['a jwks_uri that is empty', of({ jwks_uri: '' }), UNSAFE],
  ['a list', [of({})], 'the discovery document is no object'],
  ['null', null, 'the discovery document is no object'],
  ['a text', 'issuer', 'the discovery document is no object'],
]

for (const [what, document, reason] of BAD) {
  test(`metadata that is, or has, ${what} is refused, and the reason shows no value`, async () => {
    const path = '/.well-known/oauth-authorization-server'
    serve({ [OPENID]: json(document) })
    assert.equal(await failure(discovered(origin)), reason)
    serve({ [path]: json(document) })
    assert.equal(await failure(discovered(origin)), reason)
  })
}

test('members that metadata only inherits do not count', async (t) => {
  t.after(() => {
    for (const name of ['issuer', 'jwks_uri']) Reflect.deleteProperty(Object.prototype, name)
  })
  const inherit = (name: string, value: string) =>
    Object.defineProperty(Object.prototype, name, { value, configurable: true })
  serve({ [OPENID]: json({}) })
  inherit('issuer', origin)
  assert.equal(await failure(discovered(origin)), ANOTHER)
  Reflect.deleteProperty(Object.prototype, 'issuer')
  serve({ [OPENID]: json({ issuer: origin }) })
  inherit('jwks_uri', JWKS_URI)
  assert.equal(await failure(discovered(origin)), NONE)
})

for (const jwksUri of ['http://127.0.0.1:1/', 'http://localhost/keys', 'http://[::1]/k?tenant=1']) {
  test(`a jwks_uri may be ${jwksUri}, which stays on this machine`, async () => {
    serve({ [OPENID]: json(of({ jwks_uri: jwksUri })) })
    assert.equal(await discovered(origin), jwksUri)
  })
}

/** A discovery on a clock that moves by hand. */
function discoveryOnClock(t: TestContext) {
  holdTime(t, { apis: ['Date'], now: 0 })
  const discovery = new Discovery(origin)
  return {
    locate: () => discovery.locate(limits(), async (url) => url),
    failing: () => failure(discovery.locate(limits(), () => Promise.reject(new Unusable('bad')))),
    at: (seconds: number) => t.mock.timers.setTime(seconds * 1000),
  }
}

test('the metadata is read again after an hour, and then its new address counts', async (t) => {
  const { locate, at } = discoveryOnClock(t)
  serve({ [OPENID]: json(of({})) })
  assert.equal(await locate(), JWKS_URI)
  serve({ [OPENID]: json(of({ jwks_uri: 'https://login.test/new' })) })
  at(3599.999)
  assert.equal(await locate(), JWKS_URI)
  assert.equal(asked.length, 0)
  at(3600)
  assert.equal(await locate(), 'https://login.test/new')
  assert.equal(await locate(), 'https://login.test/new')
  assert.equal(asked.length, 1)
})

test('metadata that cannot be read again leaves no address, and is asked for each time', async (t) => {
  const { locate, at } = discoveryOnClock(t)
  serve({ [OPENID]: json(of({})) })
  await locate()
  at(3600)
  serve({ [OPENID]: status(500) })
  for (const count of [1, 2]) {
    assert.equal(await failure(locate()), 'no discovery document: answered with status 500')
    assert.equal(asked.length, count)
  }
})

test('an address that has brought nothing yet is looked for anew', async (t) => {
  const { locate, failing } = discoveryOnClock(t)
  serve({ [OPENID]: json(of({ jwks_uri: 'https://login.test/wrong' })) })
  assert.equal(await failing(), 'bad')
  serve({ [OPENID]: json(of({})) })
  assert.equal(await locate(), JWKS_URI)
  assert.equal(await failing(), 'bad')
  assert.equal(await locate(), JWKS_URI)
  assert.equal(asked.length, 1, 'one that has brought something is kept')
})

/** Among them is one of each kind of address that is not protected; the others are with that. */
const NOT_DISCOVERABLE = [
  '',
  'login.test',
  'urn:example:issuer',
  'http://login.test',
  'https://user:secret@login.test',
  'https://login.test?a=b',
  'https://login.test?',
  'https://login.test#a',
  'https://login.test#',
]

for (const issuer of NOT_DISCOVERABLE) {
  test(`"${issuer}" cannot be discovered, and no address is made of it`, async () => {
    assert.equal(isDiscoverable(issuer), false)
    const reason = 'the issuer is no https URL to discover it at'
    assert.equal(await failure(discovered(issuer)), reason)
  })
}
