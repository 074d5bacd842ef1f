import { createSocket, type Socket } from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import type { TestContext } from 'node:test'

/** The addresses of a name; null: there is no such name; undefined: the server is silent. */
export type NameAnswer = readonly string[] | null | undefined

const [TYPE_A, TYPE_AAAA] = [1, 28]
const NO_SUCH_NAME = 3

/**
 * A name server on loopback (RFC 1035 §4) that is the one of the process until the test ends, but
 * for `dns.lookup`. Gives the names that it was asked for, once for each question for IPv4.
 */
export async function nameServer(
  t: TestContext,
  answer: (name: string, family: 4 | 6) => NameAnswer,
): Promise<readonly string[]> {
  const asked: string[] = []
  // A socket looks up its own address too, by what a test may have replaced.
  const socket = createSocket({ type: 'udp4', lookup: (host, _, done) => done(null, host, 4) })
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query)
    if (type === TYPE_A) asked.push(name)
    const known = answer(name, type === TYPE_A ? 4 : 6)
    if (known !== undefined) socket.send(reply(query, end, type, known), from.port, from.address)
  })
  const listening = once(socket, 'listening')
  socket.bind(0, '127.0.0.1')
  await listening
  t.after(() => close(socket))
  const server = `127.0.0.1:${socket.address().port}`
  const { Resolver } = dns.promises
  class OurResolver extends Resolver {
    constructor(...options: ConstructorParameters<typeof Resolver>) {
      super(...options)
      this.setServers([server])
    }
  }
  Object.assign(dns.promises, { Resolver: OurResolver })
  t.after(() => Object.assign(dns.promises, { Resolver }))
  return asked
}

async function close(socket: Socket): Promise<void> {
  const closed = once(socket, 'close')
  socket.close()
  await closed
}

function readQuestion(query: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function reply(query: Buffer, end: number, type: number, known: readonly string[] | null): Buffer {
  const fitting = (known ?? []).filter((address) => isIPv4(address) === (type === TYPE_A))
  const records = [TYPE_A, TYPE_AAAA].includes(type) ? fitting.map(bytesOf) : []
  const head = Buffer.from(query.subarray(0, end))
  // A response, recursion available.
  head.writeUInt16BE(0x8180 | (known === null ? NO_SUCH_NAME : 0), 2)
  head.writeUInt16BE(records.length, 6)
  head.writeUInt32BE(0, 8)
  const answers = records.map((address) => {
    // The name of the question, class IN, kept for no time.
    const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length])
    return Buffer.concat([record, address])
  })
  return Buffer.concat([head, ...answers])
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [before = '', after = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const zeros = Array(8 - groups(before).length - groups(after).length).fill('0')
  const all = [...groups(before), ...zeros, ...groups(after)]
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
