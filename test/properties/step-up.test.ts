import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import tenantAuth, { type RouteDeclaration } from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { holds } from '../helpers/arbitraries/property.ts'
import { forge } from '../helpers/tokens/forge.ts'
import { AUDIENCE, ISSUER, KEY } from '../helpers/tokens/probe.ts'

const NOW = 1_800_000_000
const TOLERANCES = [0, 5, 30]

/** Logins that routes want. */
const WANTED: readonly Exclude<RouteDeclaration['stepUp'], false | undefined>[] = [
  { acr: 'a' },
  { acr: ['a', 'b'] },
  { maxAge: 0 },
  { maxAge: 60 },
  { acr: 'b', maxAge: 60 },
  { acr: ['c', 'a'], maxAge: 3600 },
]

const ACR = [undefined, 'a', 'b', 'c', 'A', '', null, 1, ['a'], {}] as const

/** Seconds from now to `auth_time`. */
const AGES = [-7200, -3600, -91, -90, -65, -60, -31, -30, -6, -5, -1, 0, 1, 5, 6, 30, 31, 1e6]
const time = fc.oneof(
  fc.constantFrom(...AGES.map((seconds) => String(NOW + seconds))),
  fc.integer({ min: -100, max: 100 }).map((seconds) => String(NOW + seconds)),
  fc.constantFrom(undefined, 'null', '"1800000000"', '1e999', '-1e999', '[1800000000]', '0'),
)

/** Whether a login is enough, written down as the contract says it. */
function isEnough(
  { acr: wanted, maxAge }: (typeof WANTED)[number],
  acr: unknown,
  written: string | undefined,
  clock: { readonly now: number; readonly tolerance: number },
): boolean {
  if (wanted !== undefined && ![wanted].flat().some((each) => each === acr)) return false
  if (maxAge === undefined) return true
  const authTime: unknown = written === undefined ? undefined : JSON.parse(written)
  if (typeof authTime !== 'number' || !Number.isFinite(authTime)) return false
  const age = clock.now - authTime
  return age <= maxAge + clock.tolerance && age >= -clock.tolerance
}

test('routes and handlers admit those logins that are enough, at each moment', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: NOW * 1000 })
  const apps = await Promise.all(
    TOLERANCES.map(async (clockTolerance) => {
      const app = bareApp(t)
      const publicKeys = { keys: [KEY.publicJwk] }
      const trust = { publicKeys, issuer: ISSUER, audience: AUDIENCE, superuserResource: 'a:b' }
      await app.register(tenantAuth, { ...trust, clockTolerance })
      for (const [n, stepUp] of WANTED.entries()) {
        app.get(`/route/${n}`, { config: { stepUp } }, async () => 'ok')
        app.get(`/handler/${n}`, { config: { authorization: true } }, async (request) => {
          request.authorization.stepUp(stepUp)
        })
      }
      return { app, tolerance: clockTolerance }
    }),
  )
  const moves = fc.array(fc.nat({ max: 120 }), { minLength: 1, maxLength: 3 })
  const property = fc.asyncProperty(
    fc.constantFrom(...apps),
    fc.constantFrom(...ACR),
    time,
    moves,
    fc.boolean(),
    async ({ app, tolerance }, acr, written, waits, isSuperuser) => {
      t.mock.timers.setTime(NOW * 1000)
      const user = { iss: ISSUER, aud: AUDIENCE, sub: 'alice', exp: NOW + 86_400, acr }
      const resources = isSuperuser ? { '*': ['a:b'] } : {}
      const claims = JSON.stringify({ ...user, resources }).slice(0, -1)
      const payload = written === undefined ? `${claims}}` : `${claims},"auth_time":${written}}`
      const headers = { authorization: `Bearer ${forge(KEY, { payload })}` }
      for (const wait of waits) {
        t.mock.timers.tick(wait * 1000)
        const clock = { now: Date.now() / 1000, tolerance }
        for (const [n, stepUp] of WANTED.entries()) {
          const expected = isEnough(stepUp, acr, written, clock) ? 200 : 401
          for (const url of [`/route/${n}`, `/handler/${n}`]) {
            const { statusCode } = await app.inject({ url, headers })
            assert.equal(statusCode, expected, `${url} at ${clock.now - NOW} s`)
          }
        }
      }
    },
  )
  await holds(t, property)
})
