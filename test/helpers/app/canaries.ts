import assert from 'node:assert/strict'
import type { LightMyRequestResponse } from 'fastify'

/** Claims that only a handler may see. Each holds the word. */
export const CANARY = 'canary-7Hq2'

export const CANARY_CLAIMS = {
  sub: `${CANARY}-subject`,
  preferred_username: `${CANARY}-name`,
  email: `${CANARY}@mail.test`,
  groups: [`${CANARY}-group`],
  nested: { deep: [{ value: `${CANARY}-deep` }] },
  resources: {
    held: ['order:read'],
    [`${CANARY}-tenant`]: [`${CANARY}:read`],
    '*': [`${CANARY}:everywhere`],
  },
}

/** Longest piece of a token that may occur by accident. */
const WINDOW = 16

/** Fails if a text holds a piece of the token, or a canary, plain or encoded. */
export function assertNoLeak(texts: readonly string[], token: string): void {
  const all = texts.join('\n')
  assert.notEqual(all, '')
  for (let i = 0; i + WINDOW <= token.length; i++) {
    const piece = token.slice(i, i + WINDOW)
    assert.equal(all.includes(piece), false, `characters ${i} to ${i + WINDOW} of the token`)
  }
  for (const encoding of ['utf8', 'base64url', 'hex'] as const) {
    // The first bytes only: base64url of a longer text holds them at any alignment.
    const canary = Buffer.from(CANARY).subarray(0, 9).toString(encoding)
    assert.equal(all.includes(canary), false, `a canary in ${encoding}`)
  }
}

/** All that a client sees of a response. */
export function textOf(response: LightMyRequestResponse): string {
  return JSON.stringify([
    response.statusCode,
    response.statusMessage,
    response.headers,
    response.body,
  ])
}
