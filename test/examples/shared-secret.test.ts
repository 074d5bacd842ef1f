import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import test from 'node:test'
import type { FastifyInstance } from 'fastify'
import { imported } from '../helpers/tokens/forge.ts'
import type { Account } from './own-login.ts'
import { appOnTheWay, appWithSecret } from './shared-secret.ts'

const secret = randomBytes(32).toString('hex')
const dora: Account = { id: 'dora', resources: { 'lazy-raccoon': ['menu:read'] } }
const accountOf = async () => dora

const login = async (app: FastifyInstance) =>
  (await app.inject({ method: 'POST', url: '/login', payload: {} })).body

const menuOf = async (app: FastifyInstance, tenant: string, token: string) => {
  const headers = { authorization: `Bearer ${token}` }
  return (await app.inject({ url: `/${tenant}/menu`, headers })).statusCode
}

test('tokens of a login that signs with a secret count from the first day on, and on the way to keys', async (t) => {
  const first = await appWithSecret(secret, accountOf)
  const keys = imported(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
  const privateKey = keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  const second = await appOnTheWay({ secret, privateKey }, accountOf)
  const stranger = await appWithSecret(randomBytes(32).toString('hex'), accountOf)
  for (const app of [first, second, stranger]) t.after(() => app.close())
  const old = await login(first)
  const forged = await login(stranger)
  for (const app of [first, second]) {
    assert.equal(await menuOf(app, 'lazy-raccoon', old), 200)
    assert.equal(await menuOf(app, 'busy-beaver', old), 403)
    assert.equal(await menuOf(app, 'lazy-raccoon', forged), 401)
  }
  const signed = await login(second)
  assert.equal(await menuOf(second, 'lazy-raccoon', signed), 200)
  assert.equal(await menuOf(first, 'lazy-raccoon', signed), 401)
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2099-02-01') })
  assert.equal(await menuOf(second, 'lazy-raccoon', await login(first)), 401)
  assert.equal(await menuOf(second, 'lazy-raccoon', await login(second)), 200)
})
