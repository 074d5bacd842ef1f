import type { Authority } from './authority.ts'

interface Call {
  readonly path: string
  readonly token?: string
  /** A POST, where there is one. */
  readonly body?: object
}

/** Two lines: the status to expect and what it shows, then the command. */
function example(base: string, statusAndWhat: string, { path, token, body }: Call): string {
  const command = [
    "curl -s -i -w '\\n'",
    ...(token === undefined ? [] : [`-H 'authorization: Bearer ${token}'`]),
    ...(body === undefined
      ? []
      : ["-H 'content-type: application/json'", `-d '${JSON.stringify(body)}'`]),
    `'${base}${path}'`,
  ]
  return `# ${statusAndWhat}\n${command.join(' ')}`
}

/** One example for each thing that the guard does, with the tokens of three users. */
export async function productionExamples(base: string, authority: Authority): Promise<string[]> {
  const alice = await authority.tokenOf('alice')
  const bob = await authority.tokenOf('bob')
  const carol = await authority.tokenOf('carol')
  const expired = await authority.tokenOf('alice', { expiresIn: -60 })
  const note = { text: 'Buy more apples.' }
  const show = (what: string, call: Call): string => example(base, what, call)
  return [
    show('200 a noauth route is open to everybody', { path: '/health' }),
    show('200 alice, and the tenants that she may act for', { path: '/whoami', token: alice }),
    show('200 strictly multitenant: the tenant is in the path', {
      path: '/lazy-raccoon/notes',
      token: alice,
    }),
    show('200 configurably multitenant: the tenant is in the query', {
      path: '/notes?tenant=lazy-raccoon',
      token: bob,
    }),
    show('201 alice holds note:write in lazy-raccoon', {
      path: '/lazy-raccoon/notes',
      token: alice,
      body: note,
    }),
    show('401 no token', { path: '/lazy-raccoon/notes' }),
    show('401 an expired token', { path: '/lazy-raccoon/notes', token: expired }),
    show('401 a stranger learns nothing of what the body should be', {
      path: '/lazy-raccoon/notes',
      body: { txet: '' },
    }),
    show('403 tenant: bob may not act for busy-beaver', { path: '/busy-beaver/notes', token: bob }),
    show('403 resource: bob holds note:read in lazy-raccoon, not note:write', {
      path: '/lazy-raccoon/notes',
      token: bob,
      body: note,
    }),
    show('400 no tenant in the query', { path: '/notes', token: alice }),
    show('400 a body that the schema refuses', {
      path: '/lazy-raccoon/notes',
      token: alice,
      body: { text: '' },
    }),
    show('404 carol holds extinct-dodo, but no such tenant exists', {
      path: '/extinct-dodo/notes',
      token: carol,
    }),
  ]
}

/** The same application in dev mode, where every request acts as the user of dev-userinfo.json. */
export function devExamples(base: string): string[] {
  const note = { text: 'Try it without a token.' }
  const show = (what: string, call: Call): string => example(base, what, call)
  return [
    show('200 a noauth route is open to everybody', { path: '/health' }),
    show('200 the mock user, without any token', { path: '/whoami' }),
    show('200 strictly multitenant: the tenant is in the path', { path: '/lazy-raccoon/notes' }),
    show('200 configurably multitenant: the tenant is in the query', {
      path: '/notes?tenant=lazy-raccoon',
    }),
    show('200 in dev mode the query may leave the tenant out: it is null', { path: '/notes' }),
    show('201 the mock user holds note:write in lazy-raccoon', {
      path: '/lazy-raccoon/notes',
      body: note,
    }),
    show('403 tenant: the mock user may not act for sly-fox, whether it exists or not', {
      path: '/sly-fox/notes',
    }),
    show('403 resource: it holds note:write in lazy-raccoon, not in busy-beaver', {
      path: '/busy-beaver/notes',
      body: note,
    }),
    show('400 two tenants at once', { path: '/notes?tenant=lazy-raccoon&tenant=busy-beaver' }),
    show('400 a body that the schema refuses', { path: '/lazy-raccoon/notes', body: { text: '' } }),
    show('404 the mock user holds extinct-dodo, but no such tenant exists', {
      path: '/extinct-dodo/notes',
    }),
  ]
}
