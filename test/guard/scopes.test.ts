import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { installedGuards } from '../../lib/guard/scopes.ts'
import tenantAuth from '../../lib/index.ts'
import { bareApp, trusting } from '../helpers/app/guarded-app.ts'

test('the guards of a scope are those in it and below it, or the one around it', async (t) => {
  const app = bareApp(t)
  const names = new Map<FastifyInstance, string>([[app, 'app']])
  for (const name of ['one', 'two', 'three']) {
    await app.register(async (child) => {
      names.set(child, name)
      await child.register(tenantAuth, trusting({ uncovered: 'ignore' }))
      await child.register(async (inner) => void names.set(inner, `in ${name}`))
    })
  }
  await app.register(async (child) => void names.set(child, 'open'))
  await app.ready()
  const found = [...names].map(([scope, name]) => [
    name,
    ...installedGuards(scope).map((guard) => names.get(guard.scope)),
  ])
  assert.deepEqual(found, [
    ['app', 'one', 'two', 'three'],
    ['one', 'one'],
    ['in one', 'one'],
    ['two', 'two'],
    ['in two', 'two'],
    ['three', 'three'],
    ['in three', 'three'],
    ['open'],
  ])
})
