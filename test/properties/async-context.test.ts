import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { currentAuthorization } from '../../lib/index.ts'
import { holds } from '../helpers/arbitraries/property.ts'

const TENANTS = ['acme', 'globex', 'zoo']
const USERS = ['alice', 'bob', 'carol', 'dave']

const authority = await createTestAuthority()
const headersOf = new Map(
  await Promise.all(
    USERS.map(async (sub) => {
      const resources = Object.fromEntries(TENANTS.map((tenant) => [tenant, []]))
      const headers = await authority.headers({ sub, resources }, { expiresIn: 86_400 })
      return [sub, headers] as const
    }),
  ),
)

/** Ways in which code comes back later. */
const WAITS: readonly (() => Promise<unknown>)[] = [
  () => Promise.resolve(),
  () => setImmediate(),
  () => setTimeout(1),
  () => new Promise<void>((resolve) => process.nextTick(resolve)),
  () => Readable.from(['a', 'b']).toArray(),
]

/** A request or a job, and what it does. */
interface Task {
  readonly kind: 'request' | 'with a body' | 'job' | 'stranger' | 'open'
  readonly sub: string
  readonly tenant: string
  readonly waits: readonly number[]
  /** What it begins itself, and waits for. */
  readonly inner: readonly Task[]
}

const { task } = fc.letrec<{ task: Task; tasks: Task[] }>((tie) => ({
  task: fc.record({
    kind: fc.constantFrom('request', 'with a body', 'job', 'stranger', 'open'),
    sub: fc.constantFrom(...USERS),
    tenant: fc.constantFrom(...TENANTS),
    waits: fc.array(fc.nat(WAITS.length - 1), { maxLength: 3 }),
    inner: fc.oneof({ depthSize: 'small' }, fc.constant([]), tie('tasks')),
  }),
  tasks: fc.array(tie('task'), { maxLength: 2 }),
}))

const names = () => {
  const current = currentAuthorization()
  return current === null ? 'nobody' : `${current.userInfo.sub} in ${current.tenant}`
}

const nameOf = ({ kind, sub, tenant }: Task) =>
  kind === 'stranger' || kind === 'open' ? 'nobody' : `${sub} in ${tenant}`

const tasks = new Map<string, Task>()
let wrong: string[] = []

/** Looks who is current before and after each wait, and after each inner task. */
async function doTask(each: Task): Promise<string> {
  const look = () => {
    if (names() !== nameOf(each)) wrong.push(`${names()}, not ${nameOf(each)}`)
  }
  look()
  for (const wait of each.waits) {
    await WAITS[wait]?.()
    look()
  }
  await Promise.all(each.inner.map(begin))
  look()
  return 'done'
}

const app = Fastify()
after(() => app.close())
await app.register(tenantAuth, {
  ...authority.options,
  asyncContext: true,
  // Some are decided at once, and some later.
  tenants: (tenant) => (tenant === 'zoo' ? setImmediate(true) : true),
  tenantsMaxAge: 0,
})
const handler = ({ query }: { query: unknown }) => {
  const found = tasks.get(String(Reflect.get(Object(query), 'task')))
  assert.ok(found !== undefined, 'the task is known')
  return doTask(found)
}
app.get('/:tenant/task', handler)
app.post('/:tenant/task', handler)
app.get('/open/task', { config: { noauth: true } }, handler)
app.setErrorHandler(async (_error, request) => handler(request))

async function begin(each: Task): Promise<void> {
  const { kind, sub, tenant } = each
  if (kind === 'job') {
    await app.authService.actAs({ sub, tenant, resources: [] }, () => doTask(each))
    return
  }
  const id = `${tasks.size}`
  tasks.set(id, each)
  const url = `/${kind === 'open' ? 'open' : tenant}/task?task=${id}`
  const headers = kind === 'stranger' ? {} : headersOf.get(sub)
  const body = kind === 'with a body' ? ({ method: 'POST', payload: { a: 1 } } as const) : {}
  const answer = await app.inject({ url, headers: { ...headers }, ...body })
  assert.equal(answer.body, 'done')
}

test('requests and jobs of many users, beside and within each other, never mix', async (t) => {
  await holds(
    t,
    fc.asyncProperty(fc.array(task, { maxLength: 5 }), async (together) => {
      tasks.clear()
      wrong = []
      await Promise.all(together.map(begin))
      assert.deepEqual(wrong, [])
      assert.equal(currentAuthorization(), null)
    }),
  )
})
