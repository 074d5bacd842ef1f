import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doneUnlessProbed, ProbedRequest, probeEndOf } from '../../lib/guard/probed-request.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'

/** What a gate is done with, for a probed request and for another one. */
const DONE: readonly [error: Error | undefined, probed: number, other: number][] = [
  [undefined, 204, 200],
  [new Error('refused'), 500, 500],
]

for (const [error, probed, other] of DONE) {
  test(`done with ${error}, a gate answers a probe with ${probed}, and others with ${other}`, async (t) => {
    const app = bareApp(t)
    app.addHook('preHandler', (request, reply, done) => {
      doneUnlessProbed(request, reply, done, () => null)(error)
    })
    let handled = 0
    app.get('/x', async () => {
      handled += 1
      return 'x'
    })
    const first = await app.inject({ url: '/x', Request: ProbedRequest })
    assert.equal(first.statusCode, probed)
    assert.equal(handled, 0)
    const end = error === undefined ? { url: '/x', policy: null, error: null } : undefined
    assert.deepEqual(probeEndOf(first.raw.req), end)
    const second = await app.inject('/x')
    assert.equal(second.statusCode, other)
    assert.equal(probeEndOf(second.raw.req), undefined)
  })
}
