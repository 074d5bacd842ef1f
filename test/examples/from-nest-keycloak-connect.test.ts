import 'reflect-metadata'
import assert from 'node:assert/strict'
import test from 'node:test'
import { Controller, Get, Logger, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth from '../../lib/index.ts'
import { keycloakToken } from '../helpers/tokens/vendor-tokens.ts'
import { KeycloakUser, options, Public, Roles } from './from-nest-keycloak-connect.ts'

class MenuController {
  menu(user: { preferred_username: string }): string {
    return `the menu for ${user.preferred_username}`
  }

  staff(): string {
    return 'never'
  }

  health(): string {
    return 'ok'
  }
}

/** Decorators are applied by hand, because no compiler does it here. */
function handle(name: keyof MenuController, path: string, decorator: MethodDecorator): void {
  const descriptor = Object.getOwnPropertyDescriptor(MenuController.prototype, name)
  if (descriptor === undefined) throw new Error(`no method is called ${name}`)
  decorator(MenuController.prototype, name, descriptor)
  Get(path)(MenuController.prototype, name, descriptor)
}

KeycloakUser()(MenuController.prototype, 'menu', 0)
handle('menu', ':tenant/menu', Roles('menu:edit', 'menu:read'))
handle('staff', ':tenant/staff', Roles('realm:chef'))
handle('health', 'health', Public())
Controller()(MenuController)

class MenuModule {}
Module({ controllers: [MenuController] })(MenuModule)

test('decorators of the old names guard the same controller', async (t) => {
  Logger.overrideLogger(false)
  const { publicKeys, headers } = await createTestAuthority()
  const adapter = new FastifyAdapter()
  await adapter.getInstance().register(tenantAuth, { ...options, publicKeys })
  const app = await NestFactory.create<NestFastifyApplication>(MenuModule, adapter)
  t.after(() => app.close())
  await app.init()
  await app.getHttpAdapter().getInstance().ready()
  const claims = { ...keycloakToken, iss: 'https://sso.example.com/realms/lunch' }
  const user = await headers(claims, { header: { typ: 'JWT' } })
  const get = async (url: string, given = {}) => {
    const { statusCode, body } = await app.inject({ url, headers: given })
    return statusCode === 200 ? body : statusCode
  }
  assert.equal(await get('/lazy-raccoon/menu', user), 'the menu for little-capybara')
  assert.equal(await get('/busy-beaver/menu', user), 403)
  assert.equal(await get('/lazy-raccoon/staff', user), 403)
  assert.equal(await get('/lazy-raccoon/menu'), 401)
  assert.equal(await get('/health'), 'ok')
})
