import type { Authority } from './authority.ts'

interface Call {
  readonly path: string
  /** The variable that holds the token. */
  readonly as?: 'ALICE' | 'BOB' | 'CAROL' | 'EXPIRED'
  /** True for a POST. */
  readonly body?: object
}

/** Two lines: the expected status and what it shows, then the command. */
function example(base: string, statusAndWhat: string, { path, as, body }: Call): string {
  const command = [
    `curl -i -w '\\n' ${path.includes('?') ? `'${base}${path}'` : base + path}`,
    ...(as === undefined ? [] : [`-H "authorization: Bearer $${as}"`]),
    ...(body === undefined
      ? []
      : ["-H 'content-type: application/json'", `-d '${JSON.stringify(body)}'`]),
  ]
  return `# ${statusAndWhat}\n${command.join(' ')}`
}

/** The tokens of three users as shell variables, so that a command only names its user. */
export async function tokenVariables(authority: Authority): Promise<string> {
  const variables = {
    ALICE: await authority.tokenOf('alice'),
    BOB: await authority.tokenOf('bob'),
    CAROL: await authority.tokenOf('carol'),
    EXPIRED: await authority.tokenOf('alice', { expiresIn: -60 }),
  }
  return Object.entries(variables)
    .map(([name, token]) => `${name}=${token}`)
    .join('\n')
}

/** One example for each thing that the guard does. The shell has the variables of the tokens. */
export function productionExamples(base: string): string[] {
  const note = { text: 'Buy more apples.' }
  const show = (what: string, call: Call): string => example(base, what, call)
  return [
    show('200 a noauth route is open to everybody', { path: '/health' }),
    show('200 alice, and the tenants that she may act for', { path: '/whoami', as: 'ALICE' }),
    show('200 strictly multitenant: the tenant is in the path', {
      path: '/lazy-raccoon/notes',
      as: 'ALICE',
    }),
    show('200 configurably multitenant: the tenant is in the query', {
      path: '/notes?tenant=lazy-raccoon',
      as: 'BOB',
    }),
    show('201 alice holds note:write in lazy-raccoon', {
      path: '/lazy-raccoon/notes',
      as: 'ALICE',
      body: note,
    }),
    show('401 no token', { path: '/lazy-raccoon/notes' }),
    show('401 an expired token', { path: '/lazy-raccoon/notes', as: 'EXPIRED' }),
    show('401 a stranger learns nothing of what the body should be', {
      path: '/lazy-raccoon/notes',
      body: { txet: '' },
    }),
    show('403 tenant: bob may not act for busy-beaver', { path: '/busy-beaver/notes', as: 'BOB' }),
    show('403 resource: bob holds note:read in lazy-raccoon, not note:write', {
      path: '/lazy-raccoon/notes',
      as: 'BOB',
      body: note,
    }),
    show('400 no tenant in the query', { path: '/notes', as: 'ALICE' }),
    show('400 a body that the schema refuses', {
      path: '/lazy-raccoon/notes',
      as: 'ALICE',
      body: { text: '' },
    }),
    show('404 carol holds extinct-dodo, but no such tenant exists', {
      path: '/extinct-dodo/notes',
      as: 'CAROL',
    }),
  ]
}

/** The same application in dev mode, where every request acts as the user of dev-userinfo.json. */
export function devExamples(base: string): string[] {
  const note = { text: 'Try it as the mock user.' }
  const show = (what: string, call: Call): string => example(base, what, call)
  return [
    show('200 a noauth route is open to everybody', { path: '/health' }),
    show('200 the mock user, and the tenants that it may act for', { path: '/whoami' }),
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
