import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { FetchFailure } from '../../../lib/platform/http/failure.ts'
import { fetchJson, fetchText, readBody } from '../../../lib/platform/http/fetch-json.ts'
import { until } from '../../helpers/processes/until.ts'
import { askedServer } from '../../helpers/servers/asked-server.ts'
import { hangingFaults, keyFaults } from '../../helpers/servers/key-faults.ts'
import { type FaultName, faultNames, KeyServer } from '../../helpers/servers/key-server.ts'

const MAX_BYTES = 512 * 1024
const GOOD = { keys: [{ kty: 'oct', kid: 'a good key' }] }

const server = await KeyServer.start(() => GOOD)
after(() => server.close())
beforeEach(() => server.fail(null))

const read = (url = server.url, signal = AbortSignal.timeout(10_000)) =>
  fetchJson(url, { maxBytes: MAX_BYTES, signal })

/** The failure that a fetch ends with. */
async function failure(fetching: Promise<unknown>): Promise<FetchFailure> {
  const error = await fetching.then(
    () => assert.fail('the answer was accepted'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof FetchFailure, `no FetchFailure: ${error}`)
  return error
}

const compressed: [encoding: string, body: (text: string) => Buffer][] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
]

for (const [encoding, compress] of compressed) {
  test(`an answer in ${encoding} is read`, async () => {
    const { url } = await askedServer((_, response) => {
      response.setHeader('content-encoding', encoding).end(compress(JSON.stringify(GOOD)))
    })
    assert.deepEqual(await read(url), GOOD)
  })
}

test('an answer of the most bytes is read, and one with a byte more is not', async () => {
  let size = MAX_BYTES
  const { url } = await askedServer((_, response) =>
    response.end(JSON.stringify(GOOD).padEnd(size)),
  )
  assert.deepEqual(await read(url), GOOD)
  size += 1
  assert.equal((await failure(read(url))).message, 'the answer is too large')
})

test('the bytes are counted after decompression', async () => {
  let size = MAX_BYTES
  const { url } = await askedServer((_, response) => {
    const body = gzipSync(JSON.stringify(GOOD).padEnd(size))
    assert.ok(body.length < 2048, `${body.length} bytes`)
    response.setHeader('content-encoding', 'gzip').end(body)
  })
  assert.deepEqual(await read(url), GOOD)
  size += 1
  assert.equal((await failure(read(url))).message, 'the answer is too large')
})

/**
 * The reasons for a reader of JSON, who knows nothing of keys. Two depend on the version of Node.
 */
const reasons: [fault: FaultName, reason: string | RegExp][] = [
  ['status 404', 'answered with status 404'],
  ['status 429', 'answered with status 429'],
  ['status 500', 'answered with status 500'],
  ['status 503', 'answered with status 503'],
  ['no content', 'answered with status 204'],
  ['partial content', 'answered with status 206'],
  ['a redirect', 'answered with status 302'],
  ['a permanent redirect', 'answered with status 308'],
  ['a failure whose body never ends', 'answered with status 500'],
  ['a reset', 'no answer (ECONNRESET)'],
  ['a reset in the body', 'the answer broke off'],
  ['no HTTP', /^no answer \((HPE_INVALID_CONSTANT|HTTPParserError)\)$/],
  ['truncated text', 'the answer is not JSON'],
  ['a truncated body', 'the answer broke off'],
  ['a truncated chunk', /^the answer (is not JSON|broke off)$/],
  ['truncated gzip', 'the answer is not JSON'],
  ['text called gzip', 'the answer broke off'],
  ['a page', 'the answer is not JSON'],
  ['an empty body', 'the answer is not JSON'],
  ['no UTF-8', 'the answer is not JSON'],
  ['20 000 keys', 'the answer is too large'],
  ['deep nesting', 'the answer is not JSON'],
  ['a huge body', 'the answer is too large'],
  ['a huge body in gzip', 'the answer is too large'],
  ['a huge body in deflate', 'the answer is too large'],
  ['a huge body in brotli', 'the answer is too large'],
  ['a huge body in gzip twice', 'the answer is too large'],
  ['a huge failure', 'answered with status 500'],
  ['refused', 'no answer (ECONNREFUSED)'],
]

for (const [fault, reason] of reasons) {
  test(`for ${fault} the reason is: ${reason}`, async (t) => {
    // Each test has its own server, because a connection of the last test may still be closing.
    const failing = await KeyServer.start(() => GOOD)
    t.after(() => failing.close())
    await failing.fail(fault)
    const { message } = await failure(read(failing.url))
    if (typeof reason === 'string') assert.equal(message, reason)
    else assert.match(message, reason)
    assert.equal(failing.targetHits, 0, 'a redirect was followed')
  })
}

test('every other fault is JSON, or never ends', () => {
  const named = new Set(reasons.map(([fault]) => fault))
  const others = faultNames.filter((fault) => !named.has(fault) && !(fault in hangingFaults))
  assert.deepEqual(
    others,
    Object.keys(keyFaults).slice(
      Object.keys(keyFaults).indexOf('null'),
      Object.keys(keyFaults).indexOf('20 000 keys'),
    ),
  )
})

const hanging: [fault: FaultName, reason: string][] = [
  ['no answer', 'no answer in time'],
  ['no body', 'no whole answer in time'],
  ['a body that stops', 'no whole answer in time'],
  ['a dripping body', 'no whole answer in time'],
]

for (const [fault, reason] of hanging) {
  test(`${fault} ends with the signal`, async (t) => {
    await server.fail(fault)
    const { fetches } = server
    const actual = globalThis.fetch
    let hasBegun = false
    t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit) => {
      const response = await actual(url, init)
      hasBegun = true
      return response
    })
    const limit = new AbortController()
    const reading = failure(read(server.url, limit.signal))
    await until(() => (fault === 'no answer' ? server.fetches > fetches : hasBegun))
    limit.abort()
    assert.equal((await reading).message, reason)
  })
}

test('an aborted signal ends it at once', async () => {
  assert.equal((await failure(read(server.url, AbortSignal.abort()))).message, 'no answer in time')
})

test('for a server without TLS the reason is a code', async () => {
  const { message } = await failure(read(server.url.replace('http:', 'https:')))
  assert.match(message, /^no answer \(ERR_SSL_\w+\)$/)
})

test('for an error without a cause the reason is its name', async () => {
  const { message } = await failure(read(server.url.replace('//', '//user:secret@')))
  assert.equal(message, 'no answer (TypeError)')
})

test("anything that an application's own fetch throws is a failure", async (t) => {
  for (const thrown of ['secret', null, { code: 'SECRET' }]) {
    const { mock } = t.mock.method(globalThis, 'fetch', () => Promise.reject(thrown))
    assert.equal((await failure(read())).message, 'no answer (no error object)')
    mock.restore()
  }
})

test('no failure repeats the words of the server', async () => {
  for (const fault of faultNames.filter((name) => !(name in hangingFaults))) {
    await server.fail(fault)
    const error = await read().catch((reason: Error) => reason)
    if (error instanceof Error) assert.doesNotMatch(error.message, /key|wireless|SSH|public/, fault)
  }
})

test('each answer is reported before it is read, a bad one too', async () => {
  const answers: [status: number, date: string | null][] = []
  const onAnswer = ({ status, headers }: Pick<Response, 'status' | 'headers'>) =>
    void answers.push([status, headers.get('date')])
  const date = 'Sun, 06 Nov 1994 08:49:37 GMT'
  const { url } = await askedServer((request, response) => {
    response.writeHead(request.url === '/' ? 200 : 500, { date }).end('no JSON')
  })
  const limits = { maxBytes: MAX_BYTES, signal: AbortSignal.timeout(10_000), onAnswer }
  await failure(fetchJson(url, limits))
  await failure(fetchJson(`${url}bad`, limits))
  assert.deepEqual(answers, [
    [200, date],
    [500, date],
  ])
})

test('where addresses are judged, one that is not allowed is not asked', async () => {
  const { fetches } = server
  const limits = { maxBytes: MAX_BYTES, signal: AbortSignal.timeout(10_000) }
  const reading = fetchJson(server.url, { ...limits, isAllowed: () => false })
  assert.equal((await failure(reading)).message, 'the address is not public')
  assert.equal(server.fetches, fetches)
  assert.deepEqual(await fetchJson(server.url, { ...limits, isAllowed: () => true }), GOOD)
})

test('text in another encoding is not read', async () => {
  await server.fail('no UTF-8')
  const limits = { maxBytes: MAX_BYTES, signal: AbortSignal.timeout(10_000) }
  assert.equal((await failure(fetchText(server.url, limits))).message, 'the answer is not JSON')
})

test('a body that breaks off, and cannot be given up, fails like any other', async () => {
  const next = async () => JSON.parse('')
  const { signal } = new AbortController()
  const reading = readBody({ [Symbol.asyncIterator]: () => ({ next }) }, { maxBytes: 1, signal })
  assert.equal((await failure(reading)).message, 'the answer broke off')
})

test("a good answer without a body, as an application's own fetch may give it, is none", async (t) => {
  t.mock.method(globalThis, 'fetch', async () => new Response(null, { status: 200 }))
  assert.equal((await failure(read())).message, 'answered with status 200')
})

test('the connection does not outlive the answer', async () => {
  let open = 0
  const { url } = await askedServer((request, response) => {
    open += 1
    request.socket.once('close', () => {
      open -= 1
    })
    response.end('{}')
  })
  await read(url)
  for (let look = 0; open > 0 && look < 100; look++) await new Promise(setImmediate)
  assert.equal(open, 0)
})

for (const fault of ['a huge body', 'a huge body in gzip', 'a huge failure'] as const) {
  test(`${fault} is no longer received once it is given up`, async () => {
    let open = 0
    const { url } = await askedServer((_, response) => {
      open += 1
      response.once('close', () => {
        open -= 1
      })
      keyFaults[fault]({ response, good: '', target: '' })
    })
    await failure(read(url))
    await until(() => open === 0)
  })
}

test('it asks for JSON, and uses no fetch settings of the application', async () => {
  let headers: object = {}
  const { url } = await askedServer((request, response) => {
    headers = request.headers
    response.end('{}')
  })
  await read(url)
  assert.equal(Object(headers).accept, 'application/json, application/jwk-set+json')
  assert.equal(Object(headers).connection, 'close')
  assert.equal(Object(headers).authorization, undefined)
})

test('a document of more lists, objects and members than any of ours is not parsed', async (t) => {
  const parsed = t.mock.method(JSON, 'parse')
  const texts = [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, `[${'{},'.repeat(50_000)}1]`]
  for (const text of texts) {
    const { url } = await askedServer((_, response) => response.end(text))
    const limits = { maxBytes: 512 * 1024, signal: AbortSignal.timeout(10_000) }
    await assert.rejects(fetchJson(url, limits), { message: 'the answer is not JSON' })
  }
  assert.equal(parsed.mock.calls.filter(({ arguments: [text] }) => texts.includes(text)).length, 0)
})

test('an answer in thousands of pieces is given up, whatever its size', async () => {
  async function* pieces(count: number) {
    for (let i = 0; i < count; i++) yield Buffer.from(' ')
  }
  const limits = { maxBytes: 512 * 1024, signal: AbortSignal.timeout(10_000) }
  assert.equal((await readBody(pieces(4000), limits)).byteLength, 4000)
  const tooMany = new FetchFailure('the answer comes in too many pieces')
  await assert.rejects(readBody(pieces(4001), limits), tooMany)
})
