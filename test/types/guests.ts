import type { Authorization, GuardedRequest, UserInfo } from 'fastify-tenant-auth'
import { app } from './application.ts'
import { expectType } from './expect-type.ts'

const everything = { userInfo: true, resources: true, authorization: true } as const

app.get('/a', { config: { ...everything, guests: true } }, async (request) => {
  // A guest has no user, and no rights.
  expectType(request.userInfo).is<UserInfo | null>()
  expectType(request.resources).is<ReadonlySet<string>>()
  expectType(request.authorization).is<Authorization | null>()
  // @ts-expect-error a guest has no sub
  return request.userInfo.sub
})

app.get('/b', { config: { ...everything, guests: false } }, async (request) => {
  expectType(request.userInfo).is<UserInfo>()
  expectType(request.authorization).is<Authorization>()
})

app.get('/:tenant/c', { config: { guests: true, tenant: 'required' } }, async (request) => {
  expectType(request.tenant).is<string>()
  expectType(request.userInfo).is<undefined>()
})

const page = async (request: GuardedRequest<{ userInfo: true; guests: true }>) =>
  request.userInfo?.sub
app.get('/d', { config: { userInfo: true, guests: true } }, page)

const forUsers = async (request: GuardedRequest<{ userInfo: true }>) => request.userInfo.sub
app.get('/l', { config: { userInfo: true } }, forUsers)
app.get('/m', { config: { userInfo: true, guests: false } }, forUsers)
// @ts-expect-error a guest has no user
app.get('/n', { config: { userInfo: true, guests: true } }, forUsers)
// @ts-expect-error a guest has no user
app.get('/o', { config: { userInfo: true, guests: true } }, (request) => forUsers(request))

// Where the config is not seen, a guest may be there.
app.addHook('onSend', async (request) => {
  expectType(request.userInfo).is<UserInfo | null | undefined>()
  expectType(request.authorization).is<Authorization | null | undefined>()
})

// A function that chooses sees the request.
const TOOLS = new Map([['edit', 'menu:edit']])
app.get(
  '/e',
  {
    config: {
      userInfo: true,
      require: {
        by: ({ headers }) => TOOLS.get(String(headers['mcp-name'])) ?? 'menu:read',
        among: ['menu:read', 'menu:edit'],
      },
    },
  },
  async (request) => {
    expectType(request.userInfo).is<UserInfo>()
  },
)

app.get('/f', { config: { check: 'order:owner', suspended: true, tenant: true } }, async () => 'x')
app.get('/g', { config: { check: ['order:owner', 'order:open'] } }, async () => 'x')
// @ts-expect-error a choice without its ids
app.get('/h', { config: { require: { by: () => 'a:b' } } }, async () => 'x')
// @ts-expect-error a choice that may wait
app.get('/i', { config: { require: { by: async () => 'a:b', among: ['a:b'] } } }, async () => 'x')
// @ts-expect-error a check is named
app.get('/j', { config: { check: () => true } }, async () => 'x')
// @ts-expect-error a word is no boolean
app.get('/k', { config: { guests: 'yes' } }, async () => 'x')
