import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RouteDeclaration } from '../../lib/index.ts'
import { Declare } from './nestjs.ts'

// test/ecosystem/nestjs.test.ts has an application whose handler has both decorators.

/** What a handler has declared, what is declared beside it, and both together. */
const MERGED: readonly [RouteDeclaration, RouteDeclaration, RouteDeclaration | null][] = [
  [{ require: 'a:b' }, { userInfo: true }, { require: 'a:b', userInfo: true }],
  [{ userInfo: true }, { require: 'a:b' }, { require: 'a:b', userInfo: true }],
  [{ require: 'a:b' }, { require: ['c:d'] }, { require: ['a:b', 'c:d'] }],
  [{ require: 'a:b' }, { require: false }, { require: 'a:b' }],
  [{ require: { any: ['a:b'] } }, { tenant: true }, { require: { any: ['a:b'] }, tenant: true }],
  [{ tenant: true }, { tenant: true }, { tenant: true }],
  [{ require: { any: ['a:b'] } }, { require: 'c:d' }, null],
  [{ tenant: true }, { tenant: 'required' }, null],
  [{ noauth: true }, { noauth: false }, null],
]

for (const [one, other, both] of MERGED) {
  const words = JSON.stringify([one, other])
  test(`two declarations are one, or an error: ${words}`, () => {
    const handler = (): void => undefined
    const decorate = (declaration: RouteDeclaration) =>
      Declare(declaration)({}, 'handler', { value: handler })
    decorate(one)
    if (both === null) return assert.throws(() => decorate(other), /contradict|cannot be added/)
    decorate(other)
    assert.deepEqual(Reflect.getMetadata('__fastify_route_config__', handler), both)
  })
}
