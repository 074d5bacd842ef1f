import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import Fastify, { type FastifyInstance } from 'fastify'

// Jest loads this package once for each test file, in a realm of its own, into one process. Each
// realm has its own Set and its own Error, and Node's errors are of none of them.

const TAKERS = Symbol.for('fastify-tenant-auth.takers')
const foreign: Set<unknown>[] = []

// The copy of an earlier test file: its hook sees each route before ours does.
subscribe('fastify.initialization', (message) => {
  const { fastify }: { fastify: FastifyInstance } = Object(message)
  fastify.addHook('onRoute', (options) => {
    const takers: Set<unknown> = runInNewContext('new Set()')
    foreign.push(takers)
    Object.defineProperty(options, TAKERS, { value: takers })
  })
})
const { default: tenantAuth } = await import('../../lib/index.ts')

test('a copy of the package in another realm shares the routes with this one', async (t) => {
  const app = Fastify()
  t.after(() => app.close())
  app.get('/menu', { exposeHeadRoute: false }, async () => 'soup')
  const found = foreign.map(({ size }) => size)
  assert.deepEqual(found, [1])
})

test('an absent file of the mock user is absent in another realm too', async (t) => {
  const app = Fastify()
  t.after(() => app.close())
  const absent = t.mock.method(fs, 'readFileSync', () => {
    throw runInNewContext(`Object.assign(new Error('no such file'), { code: 'ENOENT' })`)
  })
  syncBuiltinESMExports()
  const registered = app.register(tenantAuth, { devMode: true })
  await registered
  absent.mock.restore()
  syncBuiltinESMExports()
  assert.equal(absent.mock.callCount(), 1)
})
