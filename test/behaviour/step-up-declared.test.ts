import assert from 'node:assert/strict'
import { test } from 'node:test'
import tenantAuth from '../../lib/index.ts'
import { assertRouteInvalid } from '../helpers/app/config-error.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'

const BOTH = { acr: ['phr', 'phrh'], maxAge: 300 } as const
const FRESH = { acr: 'phr', auth_time: Math.floor(Date.now() / 1000) }
const handler = async () => 'handled'

const getter = {
  get maxAge() {
    return 300
  },
}

/** Values that say no login. */
const WRONG: readonly [what: string, value: unknown][] = [
  ['true', true],
  ['null', null],
  ['a text', 'phr'],
  ['a number', 300],
  ['nothing at all', {}],
  ['a list', ['phr']],
  ['a function', () => BOTH],
  ['a further member', { ...BOTH, amr: ['mfa'] }],
  ['a symbol', { ...BOTH, [Symbol('amr')]: 1 }],
  ['a misspelt member', { acr: 'phr', maxage: 300 }],
  ['an empty list', { acr: [] }],
  ['an empty acr', { acr: '' }],
  ['an empty acr among others', { acr: ['phr', ''] }],
  ['a hole', { acr: new Array(1) }],
  ['a space', { acr: 'phr phrh' }],
  ['a quote', { acr: '"' }],
  ['a backslash', { acr: '\\' }],
  ['a letter beyond ASCII', { acr: 'phré' }],
  ['a line', { acr: 'phr\n' }],
  ['an acr that is a number', { acr: 1 }],
  ['no acr beside an age', { acr: undefined, maxAge: 300 }],
  ['no age beside an acr', { acr: 'phr', maxAge: undefined }],
  ['a null age', { acr: 'phr', maxAge: null }],
  ['a text age', { maxAge: '300' }],
  ['a negative age', { maxAge: -1 }],
  ['half a second', { maxAge: 0.5 }],
  ['no number', { maxAge: Number.NaN }],
  ['an endless age', { maxAge: Number.POSITIVE_INFINITY }],
  ['more than can be counted', { maxAge: 2 ** 53 }],
  ['inherited members', Object.create(BOTH)],
  [
    'an inherited member beside an own one',
    Object.assign(Object.create({ maxAge: 1 }), { acr: 'a' }),
  ],
  ['a map', new Map(Object.entries(BOTH))],
  ['a getter', getter],
  ['an acr that is not enumerable', Object.defineProperty({ maxAge: 1 }, 'acr', { value: 'phr' })],
]

for (const [what, value] of WRONG) {
  test(`${what} stops the boot, is never met, and is a TypeError in a handler`, async (t) => {
    const app = await guardedApp(t)
    const config: object = { stepUp: value }
    app.get('/x', { config }, handler)
    await assertRouteInvalid(
      app,
      /GET \/x: stepUp is not \{ acr, maxAge \} with whole seconds and characters of a/,
    )
    const early = bareApp(t)
    early.get('/x', { config }, handler)
    await early.register(tenantAuth, trusting({ superuserResource: 'authz:superuser' }))
    early.get('/handler', { config: { authorization: true } }, async ({ authorization }) => {
      assert.throws(() => authorization.stepUp(Object(value)), TypeError)
      return 'a TypeError'
    })
    const headers = await as({ '*': ['authz:superuser'] }, FRESH)
    const never = '403 ERR_AUTH_RESOURCE_MISSING'
    assert.equal(outcome(await early.inject({ url: '/x', headers })), never)
    if (typeof value !== 'object' && typeof value !== 'function') return
    assert.equal((await early.inject({ url: '/handler', headers })).body, 'a TypeError')
  })
}

/** Declarations that no boot takes, and what it says of them. */
const REFUSED: readonly [config: object, said: RegExp][] = [
  [{ noauth: true, stepUp: BOTH }, /noauth contradicts stepUp/],
  [{ guests: true, stepUp: BOTH }, /guests contradicts stepUp/],
  [{ guests: true, stepUp: {} }, /guests contradicts stepUp/],
  [{ stepup: BOTH }, /stepup looks like stepUp/],
  [{ step_up: BOTH }, /step_up looks like stepUp/],
  [{ stepUps: BOTH }, /stepUps looks like stepUp/],
  [Object.create({ stepUp: BOTH }), /stepUp is inherited/],
  [Object.defineProperty({}, 'stepUp', { value: BOTH }), /stepUp is not enumerable/],
  [Object.defineProperty({}, 'stepUp', { get: () => BOTH, enumerable: true }), /is a getter/],
]

for (const [config, said] of REFUSED) {
  test(`a route is refused, and closed where it is early: ${said.source}`, async (t) => {
    const app = await guardedApp(t)
    app.get('/x', { config }, handler)
    await assert.rejects(async () => app.ready(), { message: said })
    const early = bareApp(t)
    early.get('/x', { config }, handler)
    await early.register(tenantAuth, trusting())
    assert.match(outcome(await early.inject('/x')), /^401 /)
    assert.match(outcome(await early.inject({ url: '/x', headers: await as() })), /^40[13] /)
  })
}

test('beside config it stops the boot, and false is as none', async (t) => {
  const app = await guardedApp(t)
  const options: object = { stepUp: BOTH }
  app.get('/x', options, handler)
  await assert.rejects(async () => app.ready(), { message: /write \{ config: \{ stepUp: … \} \}/ })
  const other = await guardedApp(t)
  other.get('/x', { config: { stepUp: false } }, handler)
  other.get('/y', { config: { stepUp: undefined, guests: true } }, handler)
  assert.equal(outcome(await other.inject({ url: '/x', headers: await as() })), '200')
  assert.equal(outcome(await other.inject('/y')), '200')
})

test('routes() names the login that a route wants, and none where none is wanted', async (t) => {
  const app = bareApp(t)
  app.get('/early', { config: { stepUp: { maxAge: 60 } } }, handler)
  await app.register(tenantAuth, trusting())
  const configs = [BOTH, { acr: 'phr' }, { maxAge: 0 }, false] as const
  for (const [n, stepUp] of configs.entries()) app.get(`/${n}`, { config: { stepUp } }, handler)
  await app.ready()
  const listed = app.authService.routes().filter(({ method }) => method === 'GET')
  assert.deepEqual(
    listed.map(({ url, stepUp, ...more }) => [url, stepUp, 'stepUp' in more]),
    [
      ['/0', BOTH, false],
      ['/1', { acr: ['phr'], maxAge: null }, false],
      ['/2', { acr: [], maxAge: 0 }, false],
      ['/3', undefined, false],
      ['/early', undefined, false],
    ],
  )
  const found = listed.map((route) => Object.hasOwn(route, 'stepUp'))
  assert.deepEqual(found, [true, true, true, false, false])
})
