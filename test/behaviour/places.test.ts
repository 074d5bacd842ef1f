import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClosedRoute, PLACES, SHAPES } from '../helpers/app/closed-routes.ts'
import { as, bareApp } from '../helpers/app/guarded-app.ts'
import { assertRefused } from '../helpers/app/refusals.ts'

const FORGED = { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.AA' }

function closed({ name, write, request }: ClosedRoute): void {
  test(`a route ${name} is closed to strangers and open to users`, async (t) => {
    const app = bareApp(t)
    let runs = 0
    await write(app, async () => {
      runs++
      return 'x'
    })

    const isHead = request.method === 'HEAD'
    const missing = await app.inject(request)
    if (isHead) assert.equal(missing.statusCode, 401)
    else assertRefused(missing, 'ERR_AUTH_TOKEN_MISSING')
    const forged = await app.inject({ ...request, headers: { ...request.headers, ...FORGED } })
    assert.equal(forged.statusCode, 401)
    assert.equal(runs, 0)

    const headers = { ...request.headers, ...(await as()) }
    assert.equal((await app.inject({ ...request, headers })).statusCode, 200)
    assert.equal(runs, 1)
  })
}

for (const route of PLACES) closed(route)
for (const route of SHAPES) closed(route)

for (const route of PLACES) {
  test(`a route ${route.name} that is open only by an inherited declaration is closed`, async (t) => {
    Object.defineProperty(Object.prototype, 'noauth', { value: true, configurable: true })
    t.after(() => Reflect.deleteProperty(Object.prototype, 'noauth'))
    const app = bareApp(t)
    await route.write(app, async () => 'never')
    const response = await app.inject(route.request)
    Reflect.deleteProperty(Object.prototype, 'noauth')
    assertRefused(response, 'ERR_AUTH_TOKEN_MISSING')
  })
}
