import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchemaToTsProvider } from '@fastify/type-provider-json-schema-to-ts'
import { type TypeBoxTypeProvider, TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { ALICE, beside, SIDES } from '../helpers/app/beside.ts'

const TypeBoxOrder = Type.Object({ meal: Type.String(), count: Type.Integer({ minimum: 1 }) })
const JsonOrder = {
  type: 'object',
  required: ['meal', 'count'],
  properties: { meal: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
} as const

/** Takes exactly what the types say: a value that a provider does not type would not fit. */
const receipt = (tenant: string, meal: string, count: number): string =>
  `${count} ${meal} for ${tenant}`

for (const side of SIDES) {
  for (const provider of ['TypeBox', 'JSON schema']) {
    test(`With the ${provider} type provider ${side} the guard body and tenant are both typed and checked`, async (t) => {
      const config = { tenant: 'required', require: 'menu:read' } as const
      const { app, authority } = await beside(t, side, async (app) => {
        if (provider === 'TypeBox') app.setValidatorCompiler(TypeBoxValidatorCompiler)
      })
      if (provider === 'TypeBox') {
        app
          .withTypeProvider<TypeBoxTypeProvider>()
          .post('/:tenant/orders', { config, schema: { body: TypeBoxOrder } }, async (request) =>
            receipt(request.tenant, request.body.meal, request.body.count),
          )
      } else {
        app
          .withTypeProvider<JsonSchemaToTsProvider>()
          .post('/:tenant/orders', { config, schema: { body: JsonOrder } }, async (request) =>
            receipt(request.tenant, request.body.meal, request.body.count),
          )
      }
      const order = { method: 'POST', url: '/lazy-raccoon/orders' } as const
      const good = { meal: 'soup', count: 2 }
      const bad = { meal: 'soup', count: 0 }
      const headers = await authority.headers(ALICE)
      const answer = await app.inject({ ...order, headers, payload: good })
      assert.equal(answer.body, '2 soup for lazy-raccoon')
      assert.equal((await app.inject({ ...order, headers, payload: bad })).statusCode, 400)
      assert.equal((await app.inject({ ...order, payload: bad })).statusCode, 401)
    })
  }
}
