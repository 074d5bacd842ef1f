import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asked } from '../../lib/guard/asked.ts'
import {
  Access,
  accessOf,
  askedOf,
  type Decision,
  decisionOf,
  setDecision,
} from '../../lib/guard/decision.ts'
import { Refused } from '../../lib/guard/refused.ts'
import { errors } from '../../lib/index.ts'
import { decidedRequest } from '../helpers/app/decided-request.ts'
import { as } from '../helpers/app/guarded-app.ts'

const refuse = (asked: Asked) => new Refused(new errors.ERR_AUTH_TOKEN_MISSING(), asked)

/** Decisions on a request, and whether it is known as asked, and as let through. */
const DECISIONS: readonly [
  what: string,
  make: (asked: Asked, access: Access) => Decision | undefined,
  isAsked: boolean,
  isAccess: boolean,
][] = [
  ['that is not decided', () => undefined, false, false],
  ['that is not guarded', () => null, false, false],
  ['that is let through', (_asked, access) => access, true, true],
  ['that is refused', refuse, true, false],
]

for (const [what, make, isAsked, isAccess] of DECISIONS) {
  test(`a request ${what} is told as it was decided`, async (t) => {
    const { asked } = await decidedRequest(t, await as())
    const { request } = asked
    const access = accessOf(request)
    assert.ok(access, 'the request was let through')
    const decision = make(asked, access)
    setDecision(request, decision)
    assert.equal(decisionOf(request) === decision, true, 'another decision')
    assert.equal(askedOf(request) === (isAsked ? asked : null), true, 'another asking')
    assert.equal(accessOf(request) === (isAccess ? access : undefined), true, 'another access')
  })
}

test('what let a request through cannot be changed, and tells what the route declares', async (t) => {
  const { asked } = await decidedRequest(t, await as())
  const authorization = asked.principal?.in('lazy-raccoon')
  assert.ok(authorization, 'a user has asked')
  const access = new Access(asked, authorization)
  assert.deepEqual(
    [access.asked === asked, access.authorization === authorization, Object.isFrozen(access)],
    [true, true, true],
  )
  assert.equal(access.declared === asked.policy.declared, true, 'another declaration')
  assert.equal(access.declared.userInfo, false)
})
