import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyBaseLogger } from 'fastify'
import { bindLog, namesTenant } from '../../lib/guard/log-bindings.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { decidedAgain, decidedRequest } from '../helpers/app/decided-request.ts'
import { as, authority } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'

const ALL = ['tenant', 'sub', 'issuer'] as const
type Names = NonNullable<AuthOptions['logBindings']>

/** A decided request with a log that is kept. */
async function logged(t: TestContext, isUser: boolean, options: AuthOptions = {}) {
  const { logger, raw, lines } = logLines()
  const headers = isUser ? await as() : {}
  const { context } = await decidedRequest(t, headers, options, { logger })
  raw.length = 0
  return { context, raw, lines }
}

/** Who asks, what is to be named, and what is. */
const NAMED: readonly [isUser: boolean, names: Names, named: object][] = [
  [true, ALL, { tenant: 'lazy-raccoon', sub: 'test-user', issuer: authority.options.issuer }],
  [true, ['sub'], { sub: 'test-user' }],
  [true, ['issuer'], { issuer: authority.options.issuer }],
  [true, ['tenant'], { tenant: 'lazy-raccoon' }],
  [false, ALL, { tenant: 'lazy-raccoon' }],
]

for (const [isUser, names, named] of NAMED) {
  test(`of ${isUser ? 'a user' : 'a stranger'} the lines name ${names.join(', ')} where it is known`, async (t) => {
    const { context, lines } = await logged(t, isUser)
    bindLog(context, names)
    context.request.log.info('by the request')
    context.reply.log.info('by the reply')
    const found = lines('by the').map((line) =>
      Object.fromEntries(Object.entries(line).filter(([key]) => ALL.some((name) => name === key))),
    )
    assert.deepEqual(found, [named, named])
  })
}

for (const names of [['sub'], ['issuer'], ['sub', 'issuer']] as const) {
  test(`where ${names.join(' and ')} are not known, the log stays the one it was`, async (t) => {
    const { context } = await logged(t, false)
    const { log } = context.request
    bindLog(context, names)
    assert.equal(context.request.log === log, true, 'the log of the request is another one')
    assert.equal(context.plainLog === log, true, 'the plain log is another one')
  })
}

for (const [how, isAnew] of [
  ['twice', false],
  ['of a request that is decided anew', true],
] as const) {
  test(`a log that is bound ${how} has each name once`, async (t) => {
    const { context, raw } = await logged(t, true)
    bindLog(context, ALL)
    bindLog(isAnew ? decidedAgain(context, context) : context, ALL)
    context.request.log.info('bound again')
    for (const name of ALL) assert.equal(raw.at(-1)?.split(`"${name}":`).length, 2, name)
  })
}

/** What the log of an application gives for its child. */
const CHILDREN: readonly [what: string, child: (log: FastifyBaseLogger) => unknown][] = [
  ['nothing', () => undefined],
  ['an object', () => ({})],
  ['a logger that lacks a method', ({ info, warn, error }) => ({ info, warn, error })],
  ['an error', () => assert.fail('on purpose')],
]

for (const [what, child] of CHILDREN) {
  test(`a log whose child is ${what} stays`, async (t) => {
    const { context } = await logged(t, true)
    const own = Object.create(context.request.log)
    own.child = () => child(own)
    context.request.log = own
    bindLog(context, ALL)
    assert.equal(context.request.log === own, true, 'the log of the request is another one')
    assert.equal(context.reply.log === own, true, 'the log of the reply is another one')
  })
}

test('a refusal names the tenant by itself unless each line of its log does', async (t) => {
  const { context } = await logged(t, true, { logBindings: ['tenant'] })
  assert.equal(namesTenant(context), true)
  assert.equal(namesTenant(decidedAgain(context)), false, 'a log that is not bound')
  const { context: withUser } = await logged(t, true, { logBindings: ['sub'] })
  assert.equal(namesTenant(withUser), false, 'a log that names the user alone')
  const { context: without } = await logged(t, true)
  bindLog(without, ['sub'])
  assert.equal(namesTenant(without), false, 'an application without the option')
})

test('a log that cannot be replaced stays, and names no tenant', async (t) => {
  const { context } = await logged(t, true, { logBindings: ['tenant'] })
  const again = decidedAgain(context)
  const { log } = context.request
  Object.defineProperty(context.request, 'log', { get: () => log })
  bindLog(again, ['tenant'])
  assert.equal(context.request.log === log, true, 'the log of the request is another one')
  assert.equal(namesTenant(again), false)
})
