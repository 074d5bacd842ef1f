import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isProxies, Proxies, senderOf } from '../../../lib/entrypoints/certificates/proxies.ts'
import { holds } from '../../helpers/arbitraries/property.ts'

const CASES: [proxy: string, inside: string[], outside: string[]][] = [
  ['10.0.0.1', ['10.0.0.1', '::ffff:10.0.0.1', '::FFFF:a00:1'], ['10.0.0.2', '::10.0.0.1']],
  ['10.0.0.0/8', ['10.255.0.1', '::ffff:10.1.1.1'], ['11.0.0.0', '9.255.255.255', '::a00:1']],
  ['::ffff:10.0.0.1', ['10.0.0.1', '0:0:0:0:0:ffff:10.0.0.1'], ['10.0.0.2']],
  ['::ffff:0.0.0.0/96', ['1.2.3.4', '::ffff:255.255.255.255'], ['::1', '2001:db8::1']],
  ['::ffff:10.0.0.0/104', ['10.9.9.9'], ['11.0.0.1']],
  ['0:0:0:0:0:ffff:a00:0/127', ['10.0.0.0', '10.0.0.1'], ['10.0.0.2']],
  ['0.0.0.0/0', ['1.2.3.4', '::ffff:255.255.255.255'], ['::1', '2001:db8::1']],
  ['::/0', ['::1', 'fe80::1%eth0', '2001:db8::1'], ['1.2.3.4', '::ffff:1.2.3.4']],
  ['2001:db8::/32', ['2001:db8:ffff::1', '2001:0DB8::'], ['2001:db9::', '32.1.13.184']],
  ['fe80::/10', ['fe80::1%eth0', 'febf::1'], ['fec0::1%eth0']],
  ['::1', ['::1', '0:0:0:0:0:0:0:1'], ['::', '::2', '127.0.0.1']],
]

for (const [proxy, inside, outside] of CASES) {
  test(`${proxy} means what it says`, () => {
    assert.equal(isProxies([proxy]), true)
    const proxies = new Proxies([proxy, '192.0.2.1'])
    for (const address of inside) assert.equal(proxies.include(address), true, address)
    for (const address of [...outside, 'unix', null, '', 'x', '%']) {
      assert.equal(proxies.include(address), false, `${address}`)
    }
  })
}

test('unix is a connection on a unix socket alone', () => {
  const proxies = new Proxies(['unix'])
  assert.equal(proxies.include('unix'), true)
  for (const address of [null, '', '127.0.0.1', '::']) assert.equal(proxies.include(address), false)
})

const anyWords = (count: number, max: number) =>
  fc.array(fc.nat({ max }), { minLength: count, maxLength: count })

test('a network holds the addresses whose first bits are the same, and no other', async (t) => {
  const shape = fc.boolean().chain((isV4) => {
    const [count, max] = isV4 ? ([4, 255] as const) : ([8, 0xffff] as const)
    const bits = count * (isV4 ? 8 : 16)
    return fc.record({
      isV4: fc.constant(isV4),
      one: anyWords(count, max),
      mask: fc.nat({ max: bits }),
      flip: fc.nat({ max: bits - 1 }),
    })
  })
  await holds(
    t,
    fc.asyncProperty(shape, async ({ isV4, one, mask, flip }) => {
      const width = isV4 ? 8 : 16
      const other = one.map((word, i) =>
        i === Math.floor(flip / width) ? word ^ (1 << (width - 1 - (flip % width))) : word,
      )
      const textOf = (words: readonly number[]) =>
        isV4 ? words.join('.') : words.map((word) => word.toString(16)).join(':')
      const isMapped = !isV4 && one.slice(0, 5).every((word) => word === 0)
      fc.pre(!isMapped)
      const proxies = new Proxies([`${textOf(one)}/${mask}`])
      assert.equal(proxies.include(textOf(one)), true)
      assert.equal(proxies.include(textOf(other)), flip >= mask)
    }),
  )
})

const listensAt = (address: unknown) => ({ address: () => address })
const TCP = { address: '127.0.0.1', family: 'IPv4', port: 80 }

const SOCKETS: [what: string, socket: unknown, sender: string | null][] = [
  ['of an address', { remoteAddress: '10.0.0.1', destroyed: true }, '10.0.0.1'],
  ['of an interface', { remoteAddress: 'fe80::1%eth0' }, 'fe80::1%eth0'],
  ['of what is no address', { remoteAddress: 'unix' }, null],
  ['of an odd address', { remoteAddress: null, destroyed: false, server: listensAt('/a') }, null],
  ['at a path', { destroyed: false, server: listensAt('/a') }, 'unix'],
  ['that has ended, at a path', { destroyed: true, server: listensAt('/a') }, null],
  ['whose peer has gone, over TCP', { destroyed: false, server: listensAt(TCP) }, null],
  ['of a server that has closed', { destroyed: false, server: listensAt(null) }, null],
  ['of no server', { destroyed: false }, null],
  ['of another server', { destroyed: false, server: {} }, null],
  ['that is none', undefined, null],
]

for (const [what, socket, sender] of SOCKETS) {
  test(`the sender on a connection ${what} is ${sender}`, () => {
    assert.equal(senderOf({ socket }), sender)
  })
}

test('a connection whose socket cannot be read is of nobody', () => {
  const throwing = {
    get socket() {
      return assert.fail('the session has ended')
    },
  }
  assert.equal(senderOf(throwing), null)
})
