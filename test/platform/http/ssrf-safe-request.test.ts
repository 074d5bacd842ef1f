import assert from 'node:assert/strict'
import dns, { type LookupAddress } from 'node:dns'
import { getEventListeners, once } from 'node:events'
import http, { createServer } from 'node:http'
import https from 'node:https'
import { createServer as createRawServer } from 'node:net'
import { after, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { fetchJson } from '../../../lib/platform/http/fetch-json.ts'
import { lookUp } from '../../../lib/platform/http/name-look-up.ts'
import {
  type AddressRule,
  isPublicAddress,
  ssrfSafeRequest,
} from '../../../lib/platform/http/ssrf-safe-request.ts'
import { until } from '../../helpers/processes/until.ts'
import { askedServer, portOf } from '../../helpers/servers/asked-server.ts'
import { hangingFaults, keyFaults } from '../../helpers/servers/key-faults.ts'
import { type FaultName, faultNames, KeyServer } from '../../helpers/servers/key-server.ts'
import { nameServer } from '../../helpers/servers/name-server.ts'

const NOT_PUBLIC = 'the address is not public'
const GOOD = { keys: [{ kty: 'oct', kid: 'a good key' }] }
const OUR_SERVERS: AddressRule = (address) => address === '127.0.0.1'

/** A server at every address of this machine that counts its connections, and knows the last. */
async function watchedServer() {
  const server = createServer((_, response) => response.end(JSON.stringify(GOOD)))
  let connections = 0
  let connectedTo = ''
  server.on('connection', (socket) => {
    connections += 1
    connectedTo = socket.localAddress ?? ''
  })
  server.listen(0)
  await once(server, 'listening')
  after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { port, connections: () => connections, connectedTo: () => connectedTo }
}

const watched = await watchedServer()

const read = (url: string, isAllowed = OUR_SERVERS, signal = AbortSignal.timeout(10_000)) =>
  fetchJson(url, { maxBytes: 512 * 1024, signal, isAllowed })

async function failure(reading: Promise<unknown>): Promise<string> {
  const error = await reading.then(
    () => assert.fail('the answer was accepted'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof Error, `no error: ${error}`)
  assert.equal(error.constructor.name, 'FetchFailure')
  return error.message
}

/** The address is refused, and nothing reaches the server that is there. */
async function assertNotConnected(url: string, reason = NOT_PUBLIC): Promise<void> {
  const before = watched.connections()
  assert.equal(await failure(read(url, isPublicAddress)), reason)
  assert.equal(watched.connections(), before)
}

/**
 * The answers that the machine gives from now on for names that no name server has, one after
 * another; the last one stays.
 */
async function answering(t: TestContext, ...answers: readonly (readonly string[])[]) {
  await nameServer(t, () => null)
  let asked = 0
  const lookup = (...args: unknown[]) => {
    const answer = answers[Math.min(asked, answers.length - 1)] ?? []
    asked += 1
    const addresses: LookupAddress[] = answer.map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
    const done = args.at(-1)
    assert.ok(typeof done === 'function', 'a look-up without a callback')
    void setImmediate().then(() => done(null, addresses))
  }
  t.mock.method(dns, 'lookup', lookup)
  return () => asked
}

const LITERALS = [
  '127.0.0.1',
  '127.1',
  '0x7f.1',
  '0x7f000001',
  '2130706433',
  '017700000001',
  '0177.0.0.1',
  '127.0.0.1.',
  '１２７.0.0.1',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '0.0.0.0',
  '0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:FFFF:7F00:0001]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
]

for (const host of LITERALS) {
  test(`the literal ${host} is not public, and is not connected to`, async (t) => {
    const asked = await answering(t, ['8.8.8.8'])
    await assertNotConnected(`http://${host}:${watched.port}/`)
    assert.equal(asked(), 0, 'a literal was looked up')
  })
}

test('localhost, which the machine itself resolves, is not public', async () => {
  await assertNotConnected(`http://localhost:${watched.port}/`)
})

const ANSWERS: readonly (readonly [what: string, ...answer: string[]])[] = [
  ['loopback', '127.0.0.1'],
  ['loopback in IPv6', '::1'],
  ['mapped loopback', '::ffff:127.0.0.1'],
  ['a private address', '10.1.2.3'],
  ["a cloud's metadata", '169.254.169.254'],
  ['a link-local address with a zone', 'fe80::1%eth0'],
  ['one good and one bad address', '93.184.215.14', '127.0.0.1'],
  ['a bad and a good address', '127.0.0.1', '93.184.215.14'],
  ['a good address, and a bad one in IPv6', '93.184.215.14', 'fd00::1'],
  ['no address'],
]

for (const [what, ...answer] of ANSWERS) {
  test(`a name that leads to ${what} is refused`, async (t) => {
    const asked = await answering(t, answer)
    await assertNotConnected(`http://idp.customer.test:${watched.port}/`)
    assert.equal(asked(), 1)
  })
}

for (const [what, ...answer] of ANSWERS.filter(([, ...all]) => !all.join().includes('%'))) {
  test(`a name of which a name server says ${what} is refused`, async (t) => {
    const asked = await nameServer(t, () => answer)
    const reason = answer.length > 0 ? NOT_PUBLIC : 'no answer (ENOTFOUND)'
    await assertNotConnected(`http://idp.customer.test:${watched.port}/`, reason)
    assert.deepEqual(asked, ['idp.customer.test'])
  })
}

test('what a name server says at first is connected to, whatever it says later', async (t) => {
  let times = 0
  const asked = await nameServer(t, () => (times++ < 2 ? ['127.0.0.2'] : ['127.0.0.1']))
  await read(`http://idp.customer.test:${watched.port}/`, () => true)
  assert.equal(asked.length, 1, 'it was looked up again')
  assert.match(watched.connectedTo(), /127\.0\.0\.2$/)
})

test('a name that leads to loopback at the second look-up only is connected as first answered', async (t) => {
  const asked = await answering(t, ['127.0.0.2'], ['127.0.0.1'])
  const judged: string[] = []
  const isAllowed: AddressRule = (address) => {
    judged.push(address)
    return true
  }
  await read(`http://idp.customer.test:${watched.port}/`, isAllowed)
  assert.equal(asked(), 1, 'it was looked up again')
  assert.deepEqual(judged, ['127.0.0.2'])
  assert.match(watched.connectedTo(), /127\.0\.0\.2$/)
})

test('and at the next fetch the second answer is judged anew', async (t) => {
  const isAllowed: AddressRule = (address) => address === '127.0.0.1'
  await answering(t, ['127.0.0.1'], ['127.0.0.2'])
  const url = `http://idp.customer.test:${watched.port}/`
  assert.deepEqual(await read(url, isAllowed), GOOD)
  assert.equal(await failure(read(url, isAllowed)), NOT_PUBLIC)
})

test('a name that is not found is reported by its code', async (t) => {
  const lookup = (...args: unknown[]) => {
    const done = args.at(-1)
    assert.ok(typeof done === 'function', 'a look-up without a callback')
    done(Object.assign(new Error('idp.customer.test'), { code: 'ENOTFOUND' }))
  }
  t.mock.method(dns, 'lookup', lookup)
  await nameServer(t, () => null)
  const url = 'https://idp.customer.test/'
  assert.equal(await failure(read(url, isPublicAddress)), 'no answer (ENOTFOUND)')
})

test('a look-up that never ends ends with the signal', async (t) => {
  const open: (() => void)[] = []
  t.mock.method(dns, 'lookup', (...args: unknown[]) => {
    const done = args.at(-1)
    assert.ok(typeof done === 'function', 'a look-up without a callback')
    open.push(() => done(null, []))
  })
  await nameServer(t, () => null)
  const limit = new AbortController()
  const reading = failure(read('https://idp.customer.test/', isPublicAddress, limit.signal))
  await until(() => open.length === 1)
  limit.abort()
  assert.equal(await reading, 'no answer in time')
  // Its thread comes back for the next one.
  for (const done of open) done()
})

test('a name may lead to several addresses, of which one is connected to', async (t) => {
  await answering(t, ['127.0.0.1', '::1'])
  const url = `http://idp.customer.test:${watched.port}/`
  assert.deepEqual(await read(url, () => true), GOOD)
})

for (const [what, url, reason] of [
  ['another protocol', 'ftp://127.0.0.1/', 'no answer (ERR_INVALID_PROTOCOL)'],
  ['no URL', 'nowhere', 'no answer (ERR_INVALID_URL)'],
] as const) {
  test(`${what} fails like each other failure`, async () => {
    assert.equal(await failure(read(url)), reason)
  })
}

/** As Node's fetch reports it, but for what is encoded, which is refused at once here. */
const reasons: [fault: FaultName, reason: string][] = [
  ['status 404', 'answered with status 404'],
  ['a redirect', 'answered with status 302'],
  ['a permanent redirect', 'answered with status 308'],
  ['a reset', 'no answer (ECONNRESET)'],
  ['a reset in the body', 'the answer broke off'],
  ['no HTTP', 'no answer (HPE_INVALID_CONSTANT)'],
  ['a truncated chunk', 'the answer broke off'],
  ['truncated gzip', 'the answer is encoded, unasked'],
  ['a huge body in brotli', 'the answer is encoded, unasked'],
  ['refused', 'no answer (ECONNREFUSED)'],
]

for (const [fault, reason] of reasons) {
  test(`of ${fault} it says: ${reason}`, async (t) => {
    const failing = await KeyServer.start(() => GOOD)
    t.after(() => failing.close())
    await failing.fail(fault)
    const message = await failure(read(failing.url))
    assert.equal(message, reason)
    assert.equal(failing.targetHits, 0, 'a redirect was followed')
  })
}

for (const fault of faultNames.filter((name) => name in hangingFaults)) {
  test(`${fault} ends with the signal, and so does its connection`, async () => {
    let open = 0
    const { url } = await askedServer((_, response) => {
      open += 1
      response.once('close', () => {
        open -= 1
      })
      const answer = new Map<string, (typeof hangingFaults)['no body']>(
        Object.entries(hangingFaults),
      )
      answer.get(fault)?.({ response, good: '{"keys":[]}'.padEnd(40), target: '' })
    })
    const limit = new AbortController()
    const reading = failure(read(url, OUR_SERVERS, limit.signal))
    await until(() => open === 1)
    limit.abort()
    assert.match(await reading, /^no (whole )?answer in time$/)
    await until(() => open === 0)
  })
}

for (const fault of ['a huge body', 'a huge body in gzip', 'a huge failure'] as const) {
  test(`${fault} is not received any further once it is given up`, async () => {
    let open = 0
    const { url } = await askedServer((_, response) => {
      open += 1
      response.once('close', () => {
        open -= 1
      })
      keyFaults[fault]({ response, good: '', target: '' })
    })
    await failure(read(url, OUR_SERVERS, new AbortController().signal))
    await until(() => open === 0)
  })
}

test('a signal that is aborted already ends it at once', async () => {
  const url = `http://127.0.0.1:${watched.port}/`
  assert.equal(await failure(read(url, OUR_SERVERS, AbortSignal.abort())), 'no answer in time')
})

test('a server that switches protocols gives no answer', async (t) => {
  const server = createRawServer((socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')
  })
  t.after(() => server.close())
  const port = await portOf(server)
  assert.equal(await failure(read(`http://127.0.0.1:${port}/`)), 'no answer')
})

test('it asks for what is not encoded, with the name that fetch has, and keeps no connection', async () => {
  let headers: http.IncomingHttpHeaders = {}
  let open = 0
  const { url } = await askedServer((request, response) => {
    headers = request.headers
    open += 1
    request.socket.once('close', () => {
      open -= 1
    })
    response.setHeader('content-encoding', 'identity').end('{}')
  })
  assert.deepEqual(await read(url), {})
  assert.equal(headers['accept-encoding'], 'identity')
  assert.equal(headers.accept, 'application/json, application/jwk-set+json')
  assert.equal(headers.connection, 'close')
  const name = headers['user-agent']
  await fetch(url)
  assert.deepEqual([name, headers['user-agent']], ['node', 'node'])
  await until(() => open === 0)
})

/** RFC 9110 §8.4.1: the names of codings are the same in any case. */
const CODINGS: readonly (readonly [coding: string, isRead: boolean])[] = [
  ['Identity', true],
  ['IDENTITY', true],
  ['', true],
  ['GZIP', false],
  ['identity, gzip', false],
  ['utf-8', false],
]

for (const [coding, isRead] of CODINGS) {
  test(`an answer with the content coding "${coding}" is ${isRead ? 'read' : 'refused'}`, async () => {
    const { url } = await askedServer((_, response) => {
      response.setHeader('content-encoding', coding).end('{}')
    })
    if (isRead) assert.deepEqual(await read(url), {})
    else assert.equal(await failure(read(url)), 'the answer is encoded, unasked')
  })
}

test('no connection is kept either where no header says so', async () => {
  let connection: string | undefined = ''
  const { url } = await askedServer((request, response) => {
    connection = request.headers.connection
    response.end('{}')
  })
  const { signal } = new AbortController()
  await ssrfSafeRequest(url, { headers: {}, signal, isAllowed: OUR_SERVERS })
  assert.equal(connection, 'close')
})

test('what an application has made of the agents of its process is not used', async (t) => {
  const { globalAgent } = http
  const { globalAgent: secureAgent } = https
  t.after(() => {
    http.globalAgent = globalAgent
    https.globalAgent = secureAgent
  })
  const throws = () => {
    throw new Error('an agent of the process was used')
  }
  http.globalAgent = Object.assign(new http.Agent(), { createConnection: throws })
  https.globalAgent = Object.assign(new https.Agent(), { createConnection: throws })
  const host = `127.0.0.1:${watched.port}`
  assert.deepEqual(await read(`http://${host}`), GOOD)
  assert.match(await failure(read(`https://${host}`)), /^no answer \((ERR_SSL_\w+|EPROTO)\)$/)
})

/** A raw server that sends a text in pieces, or again and again until the client goes away. */
async function rawServer(t: TestContext, answer: (send: (text: string) => boolean) => void) {
  const server = createRawServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => answer((text) => !socket.destroyed && socket.write(text)))
  })
  t.after(() => server.close())
  return `http://127.0.0.1:${await portOf(server)}/`
}

test('a server that sends informational answers without end is given up', async (t) => {
  const url = await rawServer(t, (send) => {
    send('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(20))
  })
  assert.equal(await failure(read(url)), 'too many informational answers')
})

test('a server that announces its answer first is read', async (t) => {
  const body = JSON.stringify(GOOD)
  const url = await rawServer(t, (send) => {
    send('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n')
    send(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`)
  })
  assert.deepEqual(await read(url), GOOD)
})

const { signal } = new AbortController()

test('the addresses of both families come from the name servers, and no thread is taken', async (t) => {
  const threads = t.mock.method(dns, 'lookup')
  await nameServer(t, () => ['8.8.8.8', '1.1.1.1', '2606:4700::1111'])
  assert.deepEqual(await lookUp('idp.customer.test', signal), [
    { address: '8.8.8.8', family: 4 },
    { address: '1.1.1.1', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ])
  assert.equal(threads.mock.callCount(), 0)
})

for (const [what, address, family] of [
  ['IPv4', '8.8.8.8', 4],
  ['IPv6', '2606:4700::1', 6],
] as const) {
  test(`a name that has ${what} only is found`, async (t) => {
    await nameServer(t, () => [address])
    assert.deepEqual(await lookUp('idp.customer.test', signal), [{ address, family }])
  })
}

test('a name whose servers are silent about one family has the addresses of the other', async (t) => {
  await nameServer(t, (_, family) => (family === 4 ? ['8.8.8.8'] : undefined))
  const found = await lookUp('idp.customer.test', AbortSignal.timeout(10_000))
  assert.deepEqual(found, [{ address: '8.8.8.8', family: 4 }])
})

test('eight silent names leave the look-ups of the process as they were, and end with their limit', async (t) => {
  const asked = await nameServer(t, (name) => (name === 'good.test' ? ['8.8.8.8'] : undefined))
  const limit = new AbortController()
  const all = Array.from({ length: 8 }, (_, i) => lookUp(`${i}.customer.test`, limit.signal))
  const ended = Promise.allSettled(all)
  await until(() => asked.length >= 8)
  assert.deepEqual(await lookUp('good.test', signal), [{ address: '8.8.8.8', family: 4 }])
  const local = await dns.promises.lookup('localhost')
  assert.match(local.address, /^(127\.|::1)/)
  limit.abort()
  const reasons = (await ended).map((one) => one.status === 'rejected' && one.reason.code)
  assert.deepEqual([...new Set(reasons)], ['ECANCELLED'])
})

test('silence that an error of another realm reports leaves the machine alone', async (t) => {
  await nameServer(t, () => null)
  const threads = t.mock.method(dns, 'lookup')
  const silence = runInNewContext(`Object.assign(new Error(), { code: 'ETIMEOUT' })`)
  for (const name of ['resolve4', 'resolve6'] as const) {
    t.mock.method(dns.promises.Resolver.prototype, name, () => Promise.reject(silence))
  }
  await assert.rejects(lookUp('localhost.invalid', signal), { code: 'ETIMEOUT' })
  assert.equal(threads.mock.callCount(), 0)
})

/** Look-ups of the machine that a test answers by hand. */
function machine(t: { mock: { method: (...args: never[]) => unknown } }) {
  const open: ((error: Error | null, addresses?: object[]) => void)[] = []
  const lookup = (...args: unknown[]) => {
    const done = args.at(-1)
    assert.ok(typeof done === 'function', 'a look-up without a callback')
    open.push((...answer) => done(...answer))
  }
  Reflect.apply(t.mock.method, t.mock, [dns, 'lookup', lookup])
  return open
}

test('a name that the name servers do not have may stand in the hosts file', async (t) => {
  await nameServer(t, () => null)
  const open = machine(t)
  const found = lookUp('only.hosts', signal)
  await until(() => open.length === 1)
  open[0]?.(null, [{ address: '10.0.0.7', family: 4 }])
  assert.deepEqual(await found, [{ address: '10.0.0.7', family: 4 }])
})

test('the machine is asked for one such name at a time, however long it takes', async (t) => {
  const asked = await nameServer(t, () => null)
  const open = machine(t)
  const limit = new AbortController()
  // Each question to the name servers ends with it.
  const answered = t.mock.method(limit.signal, 'removeEventListener').mock
  const held = lookUp('held.customer.test', limit.signal)
  await until(() => open.length === 1)
  const waiting = lookUp('late.customer.test', limit.signal)
  const next = lookUp('next.test', signal)
  await until(() => asked.length === 3 && answered.callCount() === 2)
  limit.abort()
  for (const one of [held, waiting]) {
    const ended = one.catch((error: Error) => error.name)
    assert.equal(await Promise.race([ended, setImmediate('it waits')]), 'AbortError')
  }
  assert.deepEqual(getEventListeners(limit.signal, 'abort'), [])
  assert.equal(open.length, 1, 'its thread has not come back')
  open[0]?.(Object.assign(new Error('none'), { code: 'ENOTFOUND' }))
  await until(() => open.length === 2)
  open[1]?.(null, [])
  assert.deepEqual(await next, [])
})

test('localhost is asked of the machine at once, and of no name server', async (t) => {
  const asked = await nameServer(t, () => ['8.8.8.8'])
  const [first] = await lookUp('localhost', signal)
  assert.match(String(first?.address), /^(127\.|::1)/)
  assert.deepEqual(asked, [])
})

test('a signal that is aborted already asks nobody', async (t) => {
  const asked = await nameServer(t, () => null)
  const threads = t.mock.method(dns, 'lookup')
  await assert.rejects(lookUp('idp.customer.test', AbortSignal.abort()), { name: 'AbortError' })
  assert.deepEqual([asked.length, threads.mock.callCount()], [0, 0])
})

/** First and last address of what is not public, and its neighbours that are, where they are. */
const SPECIAL: readonly (readonly [
  what: string,
  first: string,
  last: string,
  ...neighbours: string[],
])[] = [
  ['this network', '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['private 10/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['shared by a carrier', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['loopback', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['link-local', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['private 172.16/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['protocol assignments', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['TEST-NET-1', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['private 192.168/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['benchmarks', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['TEST-NET-2', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['TEST-NET-3', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ["a host in Azure's", '168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ["services of IBM's cloud", '161.26.0.0', '161.26.255.255', '161.25.255.255', '161.27.0.0'],
  ["IBM's service endpoints", '166.8.0.0', '166.11.255.255', '166.7.255.255', '166.12.0.0'],
  ['multicast', '224.0.0.0', '239.255.255.255', '223.255.255.255'],
  ['reserved and broadcast', '240.0.0.0', '255.255.255.255'],
  ['all below 2000::/3', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2000::'],
  ['Teredo and its like', '2001::', '2001:1ff:ffff::', '2000:ffff::', '2001:200::'],
  ['documentation', '2001:db8::', '2001:db8:ffff::', '2001:db7:ffff::', '2001:db9::'],
  ['6to4', '2002::', '2002:ffff::', '2001:ffff::', '2003::'],
  ['documentation 3fff::/20', '3fff::', '3fff:fff:ffff::', '3ffe:ffff::', '3fff:1000::'],
  ['all above 2000::/3', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff::'],
]

for (const [what, first, last, ...neighbours] of SPECIAL) {
  test(`${what} is not public, and ends where it ends`, () => {
    for (const address of [first, last]) assert.equal(isPublicAddress(address), false, address)
    for (const address of neighbours) assert.equal(isPublicAddress(address), true, address)
  })
}

const REFUSED = [
  ['loopback', '127.0.0.1', '::1', '::ffff:127.0.0.1', '::FFFF:7F00:1', '0:0:0:0:0:ffff:7f00:1'],
  ['loopback in old forms of IPv6', '::127.0.0.1', '::ffff:0:127.0.0.1', '2002:7f00:1::'],
  ['loopback by NAT64', '64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:0::7f00:1', '64:ff9b::'],
  ['local NAT64', '64:ff9b:1::8.8.8.8', '64:ff9b:1::1'],
  ["a cloud's metadata", '169.254.169.254', '::ffff:a9fe:a9fe', 'fd00:ec2::254', 'fe80::1'],
  ["Azure's wire server", '168.63.129.16', '::ffff:168.63.129.16', '::ffff:a83f:8110'],
  [
    'and by NAT64, and older forms',
    '64:ff9b::168.63.129.16',
    '::168.63.129.16',
    '2002:a83f:8110::',
  ],
  ['and by Teredo', '2001:0:a83f:8110::1', '2001:0:0:0:0:0:57c0:7eef', '::ffff:0:168.63.129.16'],
  ["Alibaba's and Oracle's", '100.100.100.200', '::ffff:100.100.100.200', '192.0.0.192'],
  ["IPv6 of Amazon's, Google's, Oracle's", 'fd00:ec2::254', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe'],
  ['private mapped', '::ffff:10.0.0.1', '::ffff:192.168.1.1', '::ffff:0.0.0.0', '::ffff:0:0'],
  ['what only looks mapped', 'fd00::ffff:8.8.8.8', '::ffff:808:808:1:1', 'fd00:64:ff9b::808:808'],
  ['local IPv6', 'fc00::1', 'fdff::1', 'fec0::1', 'ff02::1', '100::1', '5f00::1'],
  ['with a zone', 'fe80::1%eth0', '2606:4700::1%eth0', '2606:4700::1%25eth0'],
  ['no address', '', 'localhost', 'a.test', '1.1.1', '0x1.1.1.1', '01.1.1.1', '[2606:4700::1]'],
  ['no address at all', '1.1.1.1 ', '2606:4700::1/64', ']@1.1.1.1/[', '::1]:80/?[', '2606:47000::'],
] as const

for (const [what, ...addresses] of REFUSED) {
  test(`${what} is not public`, () => {
    for (const address of addresses) assert.equal(isPublicAddress(address), false, address)
  })
}

test('what the Internet is made of is public', () => {
  const addresses = ['1.1.1.1', '8.8.8.8', '93.184.215.14', '2606:4700::1111', '2A00:1450:4001::1']
  const within = [
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '64:ff9b::8.8.8.8',
    '64:ff9b::101:0',
    '::ffff:192.169.0.1',
  ]
  for (const address of [...addresses, ...within]) {
    assert.equal(isPublicAddress(address), true, address)
  }
})
