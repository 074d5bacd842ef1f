import assert from 'node:assert/strict'
import { randomBytes, scryptSync } from 'node:crypto'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { PGlite } from '@electric-sql/pglite'
import type { FastifyInstance } from 'fastify'
import { register } from 'tsx/esm/api'
import { installBuilt } from '../helpers/documents/built-package.ts'
import { writeApplication } from '../helpers/documents/page-application.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

// The application of the guide, loaded by @fastify/autoload from the files that the page shows.
// test/types/run.ts compiles it.
process.env['FASTIFY_AUTOLOAD_TYPESCRIPT'] = 'yes'

register()

const { path: folder, write } = tempFolder()
writeApplication('guides/sessions-and-roles', folder)
installBuilt(folder)
write('{ "type": "module" }', 'package.json')

function kept(password: string): string {
  const salt = randomBytes(8).toString('base64url')
  return `${salt}.${scryptSync(password, salt, 32).toString('base64url')}`
}

describe('an application with sessions and roles', () => {
  let app: FastifyInstance & { database: PGlite }
  before(async () => {
    const { createApp } = await import(pathToFileURL(join(folder, 'src/app.ts')).href)
    // A busy machine is slow to start a database.
    app = await createApp({ pluginTimeout: 60_000 })
    await app.database.exec(`
      insert into users select id, name, '${kept('secret')}'
        from (values (1, 'ada'), (2, 'mo'), (3, 'bob'), (4, 'eve')) as t (id, name);
      insert into users values (5, 'dan', '');
      insert into user_roles values (1, 'lazy-raccoon', 'admin'), (2, 'lazy-raccoon', 'moderator'),
        (3, 'lazy-raccoon', 'member'), (4, 'busy-beaver', 'admin')`)
  })
  after(() => app?.close())

  const login = async (name: string) => {
    const payload = { name, password: 'secret' }
    const answer = await app.inject({ method: 'POST', url: '/auth/login', payload })
    assert.equal(answer.statusCode, 200)
    return { session: answer.cookies[0]?.value ?? '' }
  }
  const sessions = new Map<string, ReturnType<typeof login>>()
  /** The login is limited. */
  const sessionOf = (name: string) => {
    const session = sessions.get(name) ?? login(name)
    sessions.set(name, session)
    return session
  }
  const ask = (
    cookies: Record<string, string>,
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    payload?: object,
  ) => app.inject({ method, url, cookies, ...(payload && { payload }) })
  const add = async (cookies: Record<string, string>): Promise<string> => {
    const { id } = (await ask(cookies, 'POST', '/lazy-raccoon/tasks', { title: 'cook' })).json()
    return `/lazy-raccoon/tasks/${id}`
  }

  it('guards each route that was loaded, with its tenant of the folder’s name', async () => {
    await app.ready()
    const routes = app.authService.routes()
    const isShown = (method: string, url: string) => method !== 'HEAD' && !url.endsWith('/')
    assert.deepEqual(
      routes
        .filter(({ method, url }) => isShown(method, url))
        .map(({ method, url, noauth, tenant, require }) =>
          [method, url, noauth ? 'open' : tenant, require].join(' '),
        )
        .sort(),
      [
        'DELETE /:tenant/tasks/:id path task:edit',
        'GET /:tenant/tasks path task:read',
        'GET /:tenant/tasks/:id/picture path task:read',
        'POST /:tenant/tasks path task:edit',
        'POST /:tenant/tasks/:id/assign path task:assign',
        'POST /:tenant/tasks/:id/picture path task:edit',
        'POST /auth/login open ',
        'POST /auth/logout  ',
      ],
    )
  })

  it('knows a session as the route’s user, and nobody without one', async () => {
    const bob = await sessionOf('bob')
    assert.equal((await ask({}, 'GET', '/lazy-raccoon/tasks')).statusCode, 401)
    assert.equal((await ask({ session: 'invented' }, 'GET', '/lazy-raccoon/tasks')).statusCode, 401)
    assert.equal((await ask(bob, 'GET', '/lazy-raccoon/tasks')).statusCode, 200)
    assert.equal((await ask(bob, 'GET', '/busy-beaver/tasks')).statusCode, 403)
    const payload = { name: 'bob', password: 'wrong' }
    const wrong = await app.inject({ method: 'POST', url: '/auth/login', payload })
    assert.deepEqual([wrong.statusCode, wrong.cookies], [401, []])
  })

  it('lets nobody log in as a user without a password', async () => {
    const payload = { name: 'dan', password: 'secret' }
    const answer = await app.inject({ method: 'POST', url: '/auth/login', payload })
    assert.deepEqual([answer.statusCode, answer.cookies], [401, []])
  })

  for (const [name, assigns, deletes] of [
    ['ada', 200, 204],
    ['mo', 200, 403],
    ['bob', 403, 204],
    ['eve', 403, 403],
  ] as const) {
    it(`lets ${name} assign a task of bob: ${assigns}, and delete it: ${deletes}`, async () => {
      const url = await add(await sessionOf('bob'))
      const cookies = await sessionOf(name)
      const assigned = await ask(cookies, 'POST', `${url}/assign`, { name: 'mo' })
      assert.equal(assigned.statusCode, assigns)
      assert.equal((await ask(cookies, 'DELETE', url)).statusCode, deletes)
    })
  }

  it('keeps an upload for its team', async () => {
    const bob = await sessionOf('bob')
    const url = `${await add(bob)}/picture`
    const body = new FormData()
    body.set('picture', new Blob(['pixels'], { type: 'image/png' }), 'task.png')
    const request = new Request('http://localhost', { method: 'POST', body })
    const payload = Buffer.from(await request.arrayBuffer())
    const headers = { 'content-type': request.headers.get('content-type') ?? '' }
    const upload = (cookies: Record<string, string>) =>
      app.inject({ method: 'POST', url, cookies, headers, payload })
    assert.equal((await upload({})).statusCode, 401)
    assert.equal((await upload(bob)).statusCode, 204)
    const picture = await ask(bob, 'GET', url)
    assert.deepEqual([picture.statusCode, picture.body], [200, 'pixels'])
    const elsewhere = url.replace('lazy-raccoon', 'busy-beaver')
    assert.equal((await ask(await sessionOf('eve'), 'GET', elsewhere)).statusCode, 404)
  })

  it('shows nobody what the database says, nor more of a refusal than its message', async () => {
    const bob = await sessionOf('bob')
    // No text of PostgreSQL has it.
    const failed = await ask(bob, 'POST', '/lazy-raccoon/tasks', { title: '\0' })
    assert.deepEqual(failed.json(), { message: 'Internal Server Error' })
    assert.equal(failed.statusCode, 500)
    const refused = await ask({}, 'GET', '/lazy-raccoon/tasks')
    assert.deepEqual(Object.keys(refused.json()), ['message'])
    assert.equal(refused.statusCode, 401)
  })

  it('ends a session at its logout, at once', async () => {
    const [bob, other] = [await login('bob'), await login('bob')]
    assert.equal((await ask(bob, 'GET', '/lazy-raccoon/tasks')).statusCode, 200)
    assert.equal((await ask(bob, 'POST', '/auth/logout')).statusCode, 204)
    assert.equal((await ask(bob, 'GET', '/lazy-raccoon/tasks')).statusCode, 401)
    assert.equal((await ask(other, 'GET', '/lazy-raccoon/tasks')).statusCode, 200)
  })

  it('shows its routes in the document, and limits those who look for others', async () => {
    const { paths } = JSON.parse(JSON.stringify(app.swagger()))
    assert.deepEqual(paths['/{tenant}/tasks/{id}/assign'].post.security, [{ bearerAuth: [] }])
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await app.inject('/nowhere')).statusCode)
    assert.deepEqual(statuses, [404, 404, 404, 429])
  })
})
