import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { printedRoutes } from '../../lib/inspection/printed-routes.ts'
import { unseenRoutes } from '../../lib/inspection/unseen-routes.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { LOOSE, PATTERNS } from '../helpers/app/router-patterns.ts'

/** Some of these differ only in the name of a parameter, or in what follows it. */
const ALL = [
  ...PATTERNS,
  '/ab',
  '/:b/x',
  '/r/:other(^\\d+$)/below',
  '/s/:other(^(?:a|b/c)$)/above',
  '/t/:other(^\\)$)/above',
]

const OPTIONS: readonly FastifyServerOptions[] = [{}, { routerOptions: LOOSE }]

async function printed(app: FastifyInstance): Promise<{ method: string; url: string }[]> {
  await app.ready()
  return printedRoutes(app).map(({ method, url }) => ({ method, url }))
}

/** Writes patterns, and gives what `onRoute` sees of them. */
function write(app: FastifyInstance, patterns: readonly string[], version?: string) {
  return patterns.flatMap((url) => {
    const constraints = version === undefined ? {} : { version }
    app.get(url, { constraints }, async () => 'x')
    return [
      { method: 'GET', url },
      { method: 'HEAD', url },
    ]
  })
}

for (const options of OPTIONS) {
  const under = `under ${JSON.stringify(options)}`

  test(`each route that was seen is found, ${under}`, async (t) => {
    const app = bareApp(t, options)
    const seen = write(app, ALL)
    const routes = await printed(app)
    assert.equal(routes.length, 2 * (ALL.length + 2))
    assert.deepEqual(unseenRoutes(routes, seen), [])
    assert.deepEqual(unseenRoutes(routes, []), routes)
  })

  for (const early of ALL) {
    test(`${early} is found among the others, ${under}`, async (t) => {
      const alone = bareApp(t, options)
      write(alone, [early])
      const app = bareApp(t, options)
      write(app, [early])
      const seen = write(
        app,
        ALL.filter((pattern) => pattern !== early),
      )
      const unseen = unseenRoutes(await printed(app), seen)
      const { length } = await printed(alone)
      assert.equal(unseen.length, length)
      const twins = unseen.filter(({ method }) => method === 'HEAD')
      assert.equal(twins.length * 2, length)
    })
  }
}

test('an optional parameter at the root makes two routes of one that was seen', async (t) => {
  const app = bareApp(t)
  const seen = write(app, ['/:lang?'])
  const routes = await printed(app)
  assert.deepEqual(routes.map(({ method, url }) => `${method} ${url}`).sort(), [
    'GET /',
    'GET /:lang',
    'HEAD /',
    'HEAD /:lang',
  ])
  assert.deepEqual(unseenRoutes(routes, seen), [])
})

test('a second route of a place, under a constraint, is not seen because of the first', async (t) => {
  const app = bareApp(t)
  const seen = write(app, ['/x', '/:a'])
  write(app, ['/x', '/:b'], '1.0.0')
  const unseen = unseenRoutes(await printed(app), seen)
  assert.deepEqual(unseen.map(({ method, url }) => `${method} ${url}`).sort(), [
    'GET /:a|:b',
    'GET /x',
    'HEAD /:a|:b',
    'HEAD /x',
  ])
})

test('of two similar routes, the one with the other spelling is unseen', () => {
  const get = (url: string) => ({ method: 'GET', url })
  const printed = [get('/:id'), get('/:id(^\\d+$)'), get('/x'), get('/X'), get('/y/')]
  assert.deepEqual(unseenRoutes(printed, [get('/:id(^\\d+$)'), get('/X'), get('/y')]), [
    get('/:id'),
    get('/x'),
  ])
  assert.deepEqual(unseenRoutes([get('/x')], [{ method: 'PUT', url: '/x' }]), [get('/x')])
})
