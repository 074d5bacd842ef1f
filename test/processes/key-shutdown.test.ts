import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { runChild } from '../helpers/processes/child.ts'
import { type FaultName, KeyServer } from '../helpers/servers/key-server.ts'
import { KEY } from '../helpers/tokens/probe.ts'

const idle: [what: string, fault: FaultName | null, options: object][] = [
  ['its keys are there and a refresh is to come', null, {}],
  ['a refresh is about to come again and again', null, { keysMaxAge: 0.3 }],
  ['no server listens and a retry is to come', 'refused', { keysRetry: 600, keysCooldown: 600 }],
  ['its fetch hangs, and ends at its limit', 'a dripping body', { keysTimeout: 0.5 }],
]

for (const [what, fault, options] of idle) {
  test(`an application that nothing else keeps alive ends by itself: ${what}`, async () => {
    const server = await KeyServer.start(() => ({ keys: [KEY.publicJwk] }))
    after(() => server.close())
    await server.fail(fault)
    // A child that does not end by itself is killed, and then the test fails.
    await runChild('idle-app', [server.url, JSON.stringify(options)])
  })
}

const faults: (FaultName | null)[] = ['no answer', 'a dripping body', null]

for (const fault of faults) {
  test(`close() ends at once and leaves nothing behind: ${fault ?? 'a good server'}`, async () => {
    const server = await KeyServer.start(() => ({ keys: [KEY.publicJwk] }))
    after(() => server.close())
    await server.fail(fault)
    const options = JSON.stringify({ keysTimeout: 600 })
    const isGood = fault === null ? 'yes' : 'no'
    const printed = await runChild('closing-app', [server.url, options, isGood])
    assert.deepEqual(printed['left'], [])
    assert.equal(printed['refreshed'], fault === null ? 'refreshed' : 'ERR_AUTH_KEYS_UNAVAILABLE')
  })
}
