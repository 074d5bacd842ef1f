import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Asked } from '../../lib/guard/asked.ts'
import { decidedRequest } from '../helpers/app/decided-request.ts'
import { as } from '../helpers/app/guarded-app.ts'

test('a request that is asked about anew has its parts, and knows how it was asked about before', async (t) => {
  const { asked } = await decidedRequest(t, await as())
  const { request, reply, policy, rules } = asked
  assert.deepEqual([request.url, policy.tenant, asked.before], ['/lazy-raccoon/x', 'path', null])
  const again = new Asked({ request, reply }, policy, rules, asked)
  const { plainLog, outcome, principal, tenant, cached, verified } = again
  assert.deepEqual(
    [again.request === request, again.reply === reply, again.reply.request === request],
    [true, true, true],
  )
  assert.deepEqual(
    [again.policy === policy, again.rules === rules, again.before === asked],
    [true, true, true],
  )
  assert.equal(again.rules.tenantParameter, 'tenant')
  assert.deepEqual(
    [plainLog, outcome, principal, tenant, cached, verified],
    [null, null, null, null, null, null],
  )
})
