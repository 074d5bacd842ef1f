import 'reflect-metadata'
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Controller, Get, Logger, Module, Req } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication, RouteConfig } from '@nestjs/platform-fastify'
import type { FastifyRequest } from 'fastify'
import ts from 'typescript'
import { assertGuarded, createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions, type RouteDeclaration } from '../../lib/index.ts'
import { CookOnly, Declare } from '../examples/nestjs.ts'
import { ALICE } from '../helpers/app/beside.ts'
import { REFUSALS, type RefusalCode } from '../helpers/app/refusals.ts'
import { codeBlocks } from '../helpers/documents/markdown.ts'
import { guide } from '../helpers/documents/pages.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { programFile } from '../helpers/processes/program.ts'

class MenuController {
  menu({ tenant, userInfo }: FastifyRequest): object {
    return { tenant, user: userInfo?.sub }
  }

  orders(): string {
    return 'orders'
  }

  erase({ authorization }: FastifyRequest): void {
    authorization?.require('menu:erase')
  }

  health(): string {
    return 'ok'
  }

  cook(): string {
    return 'cooked'
  }
}

/** Decorators are applied by hand, because no compiler does it here: the last one first. */
function decorate(
  name: keyof MenuController,
  path: string,
  ...decorators: readonly MethodDecorator[]
): void {
  const descriptor = Object.getOwnPropertyDescriptor(MenuController.prototype, name)
  if (descriptor === undefined) throw new Error(`no method is called ${name}`)
  Req()(MenuController.prototype, name, 0)
  for (const decorator of decorators.toReversed()) {
    decorator(MenuController.prototype, name, descriptor)
  }
  Get(path)(MenuController.prototype, name, descriptor)
}

function handle(name: keyof MenuController, path: string, config: RouteDeclaration): void {
  decorate(name, path, RouteConfig(config))
}

handle('menu', ':tenant/menu', { tenant: 'required', userInfo: true })
handle('orders', ':tenant/orders', { tenant: 'required', require: 'order:read' })
handle('erase', ':tenant/erase', { tenant: 'required', authorization: true })
handle('health', 'health', { noauth: true })
decorate(
  'cook',
  ':tenant/cook',
  Declare({ tenant: 'required', require: ['menu:read'] }),
  CookOnly(),
  RouteConfig({ userInfo: true }),
)
Controller()(MenuController)

class MenuModule {}
Module({ controllers: [MenuController] })(MenuModule)

async function nest(
  t: TestContext,
  given: AuthOptions = {},
  AppModule: object = MenuModule,
  prepare: (app: NestFastifyApplication) => void = () => {},
) {
  // Nest logs its start and each error of a request.
  Logger.overrideLogger(false)
  const authority = await createTestAuthority()
  const options = { ...authority.options, ...given }

  const adapter = new FastifyAdapter()
  await adapter.getInstance().register(tenantAuth, options)
  const app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter)

  t.after(() => app.close())
  prepare(app)
  await app.init()
  await app.getHttpAdapter().getInstance().ready()
  return { app, authority }
}

test('With NestJS a guard on the adapter’s instance gives handlers what RouteConfig declares', async (t) => {
  const { app, authority } = await nest(t)
  const headers = await authority.headers(ALICE)
  const menu = await app.inject({ url: '/lazy-raccoon/menu', headers })
  assert.deepEqual(menu.json(), { tenant: 'lazy-raccoon', user: 'alice' })
  assert.equal((await app.inject('/health')).body, 'ok')
  assert.equal((await app.inject('/nowhere')).statusCode, 404)
})

class Kitchen {
  cook(): string {
    return 'cooked'
  }
}
const cooking = Object.getOwnPropertyDescriptor(Kitchen.prototype, 'cook') ?? {}
Get(':tenant/cook')(Kitchen.prototype, 'cook', cooking)
RouteConfig({ tenant: 'required', require: 'menu:cook' })(Kitchen.prototype, 'cook', cooking)
Controller()(Kitchen)
class KitchenModule {}
Module({ controllers: [Kitchen] })(KitchenModule)

test('With NestJS the route of enableCors is none of the application', async (t) => {
  const options = { undeclared: 'refuse' } as const
  const { app, authority } = await nest(t, options, KitchenModule, (each) => each.enableCors())
  await assertGuarded(app.getHttpAdapter().getInstance(), authority)
  const stranger = await app.inject({ url: '/acme/cook', headers: { origin: 'https://a.test' } })
  assert.equal(stranger.statusCode, 401)
})

/** A request, and its refusal. Nest writes the body in its own shape. */
const REFUSED: readonly [
  url: string,
  isUser: boolean,
  code: RefusalCode,
  scope: string,
  options?: AuthOptions,
][] = [
  ['/lazy-raccoon/menu', false, 'ERR_AUTH_TOKEN_MISSING', ''],
  ['/busy-badger/menu', true, 'ERR_AUTH_TENANT_FORBIDDEN', ''],
  ['/lazy-raccoon/orders', true, 'ERR_AUTH_RESOURCE_MISSING', ', scope="order:read"'],
  ['/*/menu', true, 'ERR_AUTH_TENANT_INVALID', ''],
  ['/lazy-raccoon/menu', true, 'ERR_AUTH_TENANT_UNKNOWN', '', { tenants: ['busy-badger'] }],
]

for (const [url, isUser, code, scope, options] of REFUSED) {
  test(`With NestJS ${url} is refused with the status of ${code}, not with 500`, async (t) => {
    const { app, authority } = await nest(t, options)
    const headers = isUser ? await authority.headers(ALICE) : {}
    const answer = await app.inject({ url, headers })
    const { status, message, challenge } = REFUSALS[code]
    assert.deepEqual([answer.statusCode, answer.json()], [status, { statusCode: status, message }])
    const found = answer.headers['www-authenticate']
    assert.equal(found, challenge === null ? undefined : `Bearer realm="api"${challenge}${scope}`)
    assert.equal(answer.headers['cache-control'], 'no-store')
  })
}

test('With NestJS a require() of a handler is 403, and Nest answers without asking Fastify', async (t) => {
  const { app, authority } = await nest(t)
  const headers = await authority.headers(ALICE)
  const answer = await app.inject({ url: '/lazy-raccoon/erase', headers })
  const { status, message } = REFUSALS.ERR_AUTH_RESOURCE_MISSING
  assert.deepEqual([answer.statusCode, answer.json()], [status, { statusCode: status, message }])
})

test('With NestJS a 503 keeps its status and its Retry-After', async (t) => {
  const tenants = () => {
    throw new Error('down')
  }
  const { app, authority } = await nest(t, { tenants })
  const headers = await authority.headers(ALICE)
  const answer = await app.inject({ url: '/lazy-raccoon/menu', headers })
  assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [503, '1'])
})

for (const [held, status] of [
  [['menu:read', 'order:cook'], 200],
  [['menu:read'], 403],
  [['order:cook'], 403],
  [[], 403],
] as const) {
  test(`With NestJS a user who holds ${held.join(', ') || 'nothing'} gets ${status} where two decorators require`, async (t) => {
    const { app, authority } = await nest(t)
    const headers = await authority.headers({ resources: { 'lazy-raccoon': held } })
    assert.equal((await app.inject({ url: '/lazy-raccoon/cook', headers })).statusCode, status)
  })
}

const folder = tempFolder()

/** The controllers of the page, as the compiler of an application of Nest makes them. */
async function controllersOfPage(): Promise<object[]> {
  const blocks = codeBlocks(guide('guides/nestjs'))
  const { text = '' } = blocks.find(({ file }) => file === 'src/menu.controller.ts') ?? {}
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  })
  const declare = pathToFileURL(programFile('test/examples/nestjs.ts')).href
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder.path, 'node_modules'))
  const file = folder.write(outputText.replace('./declare.ts', declare), 'menu.controller.mjs')
  return Object.values(await import(pathToFileURL(file).href))
}

test('With NestJS parameters are the tenant and the user that the handler declares', async (t) => {
  class PageModule {}
  Module({ controllers: (await controllersOfPage()).map((each) => Object(each)) })(PageModule)
  const { app, authority } = await nest(t, {}, PageModule)
  const headers = await authority.headers({
    sub: 'alice',
    resources: { 'lazy-raccoon': ['menu:edit', 'order:cook'], 'busy-badger': ['order:cook'] },
  })
  const get = (url: string) => app.inject({ url, headers })
  assert.deepEqual((await get('/lazy-raccoon/menu')).json(), {
    tenant: 'lazy-raccoon',
    user: 'alice',
  })
  assert.equal((await get('/quick-fox/menu')).statusCode, 403)
  const cook = (tenant: string) => app.inject({ method: 'POST', url: `/${tenant}/menu`, headers })
  assert.equal((await cook('lazy-raccoon')).body, 'cooked in lazy-raccoon')
  assert.equal((await cook('busy-badger')).statusCode, 403)
  assert.equal((await get('/lazy-raccoon/broken')).statusCode, 500)
  assert.equal((await app.inject('/lazy-raccoon/broken')).statusCode, 401)
  assert.equal((await app.inject('/health')).body, 'ok')
})
