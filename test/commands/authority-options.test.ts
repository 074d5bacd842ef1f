import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAuthorityOptions } from '../../lib/commands/authority-command.ts'
import { UsageError } from '../../lib/commands/command.ts'

test('without options it is the authority of the default configuration', () => {
  assert.deepEqual(readAuthorityOptions([]), { port: 8081, audience: 'api', users: [] })
  assert.deepEqual(readAuthorityOptions(['--']), readAuthorityOptions([]))
})

test('each user holds the resources that stand behind it', () => {
  const line =
    '--user dora --resources a=menu:read,menu:write --port 0 --resources b= --user eve --audience x --resources a=x:y --resources a=z:y --resources *=q:r --user zoe'
  assert.deepEqual(readAuthorityOptions(line.split(' ')), {
    port: 0,
    audience: 'x',
    users: [
      { name: 'dora', resources: { a: ['menu:read', 'menu:write'], b: [] } },
      { name: 'eve', resources: { a: ['x:y', 'z:y'], '*': ['q:r'] } },
      { name: 'zoe', resources: {} },
    ],
  })
})

const RESOURCES = /--resources is written as lazy-raccoon=menu:read,menu:write, not "/
const PORT = /--port is a number from 0 \(any free one\) to 65535, not "/

const WRONG: readonly [line: string, message: RegExp][] = [
  ['--resources a=b:c', /--resources stands behind the --user who holds them/],
  ['--resources a=b:c --user dora', /--resources stands behind the --user/],
  ['--user dora --resources a', RESOURCES],
  ['--user dora --resources =b:c', RESOURCES],
  ['--user dora --resources a=b', RESOURCES],
  ['--user dora --resources a=b:c,', RESOURCES],
  ['--user dora --resources a=b:c=d', RESOURCES],
  ['--user dora --resources a\tb=b:c', RESOURCES],
  ['--user dora --resources __proto__=b:c', RESOURCES],
  ['--user dora --resources constructor=b:c', RESOURCES],
  ['--user dora --resources toString=', RESOURCES],
  [`--user dora --resources ${'a'.repeat(256)}=b:c`, RESOURCES],
  ['--user=', /the name of the user is empty/],
  ['--audience=', /the audience is empty/],
  ['--port 1 --user dora --port 2', /--port is given twice/],
  ['--port http', PORT],
  ['--port 65536', PORT],
  ['--port=-1', PORT],
]

for (const [line, message] of WRONG) {
  test(`${line} is a wrong command line`, () => {
    assert.throws(
      () => readAuthorityOptions(line.split(' ')),
      (error: unknown) => error instanceof UsageError && message.test(error.message),
    )
  })
}

for (const line of ['--host 0.0.0.0', 'start']) {
  test(`${line} is a wrong command line, since there is no such option`, () => {
    assert.throws(() => readAuthorityOptions(line.split(' ')), { name: 'TypeError' })
  })
}
