import assert from 'node:assert/strict'

/** Reads requests of the protocol of Redis, in parts as they come: lists of texts. */
export function requestsOf(onRequest: (request: readonly string[]) => void) {
  let rest = Buffer.alloc(0)
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (let found = takeOne(rest); found !== undefined; found = takeOne(rest)) {
      rest = rest.subarray(found.end)
      onRequest(found.request)
    }
  }
}

/** The first request, and where it ends; undefined: it is not all there. */
function takeOne(bytes: Buffer): { request: string[]; end: number } | undefined {
  let at = 0
  const number = (mark: string): number | undefined => {
    const end = bytes.indexOf('\r\n', at)
    if (end === -1) return undefined
    const line = bytes.toString('utf8', at, end)
    assert.equal(line[0], mark, `no request: ${line}`)
    at = end + 2
    return Number(line.slice(1))
  }
  const size = number('*')
  if (size === undefined) return undefined
  const request: string[] = []
  while (request.length < size) {
    const length = number('$')
    if (length === undefined || bytes.length < at + length + 2) return undefined
    request.push(bytes.toString('utf8', at, at + length))
    at += length + 2
  }
  return { request, end: at }
}
