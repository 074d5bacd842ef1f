import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refused } from '../../lib/guard/refused.ts'
import { errors } from '../../lib/index.ts'
import { decidedRequest } from '../helpers/app/decided-request.ts'

test('a refusal has its error and its request', async (t) => {
  const { asked } = await decidedRequest(t)
  const error = new errors.ERR_AUTH_TOKEN_MISSING()
  const refused = new Refused(error, asked)
  assert.deepEqual([refused.error === error, refused.asked === asked], [true, true])
})
