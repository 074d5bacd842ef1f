import assert from 'node:assert/strict'
import { test } from 'node:test'
import { as, guardedApp } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { assertNoLogout, logoutApp } from '../helpers/app/logout-app.ts'
import { assertRefused } from '../helpers/app/refusals.ts'

/** An application's serializer for objects of its own, under a name that lines of ours have too. */
function ownSerializer(): never {
  throw new TypeError('it is no object of mine')
}

function loggerWith(member: string) {
  const log = logLines()
  return { ...log, logger: { ...Object(log.logger), serializers: { [member]: ownSerializer } } }
}

for (const member of ['tenant', 'reason', 'code', 'route']) {
  test(`a serializer that cannot take our ${member} costs a line its members, and nothing else`, async (t) => {
    const { logger, lines } = loggerWith(member)
    const app = await guardedApp(t, {}, { logger })
    const audited: unknown[] = []
    app.addHook('onError', async (_request, _reply, error) => void audited.push(error.code))
    app.get('/:tenant/menu', { config: { tenant: true } }, async () => 'never')
    assertRefused(
      await app.inject({ url: '/other/menu', headers: await as() }),
      'ERR_AUTH_TENANT_FORBIDDEN',
    )
    assert.deepEqual(audited, ['ERR_AUTH_TENANT_FORBIDDEN'])
    assert.equal(lines('request refused').length, 1)
  })
}

test('a logger that fails after it has written gets each line once', async (t) => {
  const written: string[] = []
  const write = (line: string) => {
    written.push(line)
    if (line.includes('request refused')) throw new Error('the disk is full')
  }
  const app = await guardedApp(t, {}, { logger: { level: 'info', stream: { write } } })
  app.get('/x', async () => 'never')
  assertRefused(await app.inject('/x'), 'ERR_AUTH_TOKEN_MISSING')
  const refusals = written.filter((line) => line.includes('"reason":"no bearer token"'))
  assert.equal(refusals.length, 1)
})

test('a logout that is refused has its answer though its line cannot be written', async (t) => {
  const { logger, lines } = loggerWith('reason')
  const { logOut, post } = await logoutApp(t, { logger })
  assertNoLogout(await logOut('x.y.z'), 'a bad token')
  assert.equal((await post('{}', { 'content-type': 'application/json' })).statusCode, 415)
  assert.equal(lines('logout refused').length, 2)
})
