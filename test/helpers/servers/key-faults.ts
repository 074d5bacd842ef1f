import type { ServerResponse } from 'node:http'
import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setInterval } from 'node:timers/promises'
import { createBrotliCompress, createDeflate, createGzip, gzipSync } from 'node:zlib'

/** What a fault may use. */
export interface Exchange {
  readonly response: ServerResponse
  /** The good answer of the server. */
  readonly good: string
  /** An address at the same server that answers with the good keys. Its requests are counted. */
  readonly target: string
}

type Fault = (exchange: Exchange) => void

/** Bytes of a body that must never be read to its end. */
const HUGE = 200 * 1024 * 1024

/**
 * Every way in which a reached endpoint can fail, by name. Each is the answer of a real server on
 * the Internet.
 */
export const keyFaults = {
  'status 404': status(404),
  'status 429': status(429),
  'status 500': status(500),
  'status 503': status(503),
  'no content': ({ response }) => void response.writeHead(204).end(),
  'partial content': ({ response, good }) => void response.writeHead(206).end(good),
  'a redirect': ({ response, target }) => void response.writeHead(302, { location: target }).end(),
  'a permanent redirect': ({ response, target }) =>
    void response.writeHead(308, { location: target }).end(),
  'a failure whose body never ends': ({ response }) => drip(response.writeHead(500)),
  'a reset': ({ response }) => void response.socket?.resetAndDestroy(),
  'a reset in the body': ({ response, good }) => {
    response.writeHead(200, { 'content-length': good.length }).write(good.slice(0, 20), () => {
      response.socket?.resetAndDestroy()
    })
  },
  'no HTTP': ({ response }) => void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'),
  'truncated text': ({ response, good }) => void response.end(good.slice(0, -20)),
  'a truncated body': ({ response, good }) => {
    response.writeHead(200, { 'content-length': good.length })
    response.write(good.slice(0, -20), () => response.destroy())
  },
  'a truncated chunk': ({ response, good }) => {
    response.write(good.slice(0, -20), () => response.destroy())
  },
  'truncated gzip': ({ response, good }) => {
    const body = gzipSync(good)
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(body.subarray(0, -20))
  },
  'text called gzip': ({ response, good }) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).end(good),
  'a page': ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><title>Sign in to the wireless network</title>'),
  'an empty body': body(''),
  'no UTF-8': ({ response }) => void response.end(Buffer.from('{"keys":"\xff"}', 'latin1')),
  null: body('null'),
  'a string': body('"keys"'),
  'a number': body('42'),
  'an array': body('[]'),
  'an empty object': body('{}'),
  'keys that are null': body('{"keys":null}'),
  'keys that are an object': body('{"keys":{"0":{}}}'),
  'keys that are a string': body('{"keys":"none"}'),
  'no keys': body('{"keys":[]}'),
  'keys that are inherited': ({ response, good }) =>
    void response.end(`{"__proto__":${good},"constructor":${good}}`),
  'members that are no keys': body('{"keys":[null,1,"a",[],{},{"kty":"RSA"},{"kty":"XYZ"}]}'),
  '101 keys': ({ response, good }) => void response.end(withKeys(good, 101)),
  '20 000 keys': ({ response }) => void response.end(withKeys('{"keys":[]}', 20_000)),
  'deep nesting': ({ response }) => void response.end('['.repeat(500_000)),
  'a huge body': huge(),
  'a huge body in gzip': huge('gzip', createGzip),
  'a huge body in deflate': huge('deflate', createDeflate),
  'a huge body in brotli': huge('br', createBrotliCompress),
  'a huge body in gzip twice': huge('gzip, gzip', createGzip, createGzip),
  'a huge failure': ({ response }) => stream(response.writeHead(500)),
} satisfies Record<string, Fault>

/** Answers that never end. Only the time limit ends them. */
export const hangingFaults = {
  'no answer': () => {},
  'no body': ({ response }) => response.writeHead(200).flushHeaders(),
  'a body that stops': ({ response, good }) => void response.write(good.slice(0, 20)),
  'a dripping body': ({ response }) => drip(response.writeHead(200)),
} satisfies Record<string, Fault>

function status(code: number): Fault {
  return ({ response, good }) => void response.writeHead(code).end(good)
}

function body(text: string): Fault {
  return ({ response }) => void response.end(text)
}

/** The good keys, filled up with others to `count`. */
function withKeys(good: string, count: number): string {
  const { keys }: { keys: unknown[] } = JSON.parse(good)
  while (keys.length < count) keys.push({ kty: 'oct', kid: `more-${keys.length}` })
  return JSON.stringify({ keys })
}

/**
 * A document with white space before it is still JSON. So only the reader's own limits can end
 * this.
 */
function drip(response: ServerResponse): void {
  void (async () => {
    for await (const _ of setInterval(5)) {
      if (response.destroyed) return
      response.write(' ')
    }
  })()
}

function huge(encoding?: string, ...compressors: (() => Transform)[]): Fault {
  return ({ response }) => {
    if (encoding !== undefined) response.setHeader('content-encoding', encoding)
    stream(response, ...compressors.map((create) => create()))
  }
}

/** Sends as much as the reader takes. The reader is expected to leave. */
function stream(response: ServerResponse, ...compressors: Transform[]): void {
  pipeline([Readable.from(whiteSpace()), ...compressors, response]).catch(() => {})
}

function* whiteSpace(): Generator<Buffer> {
  const piece = Buffer.alloc(64 * 1024, ' ')
  for (let sent = 0; sent < HUGE; sent += piece.length) yield piece
}
