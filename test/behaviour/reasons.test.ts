import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions, errors } from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { formOf, LOGOUT, logoutApp, logoutToken } from '../helpers/app/logout-app.ts'
import { outcomeOf, rawRequest } from '../helpers/app/raw-request.ts'
import { REFUSALS, type RefusalCode } from '../helpers/app/refusals.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { selfSigned } from '../helpers/servers/self-signed.ts'
import { forge, forgeKey, partsOf } from '../helpers/tokens/forge.ts'
import { AUDIENCE, goodClaims, goodToken, ISSUER, KEY } from '../helpers/tokens/probe.ts'

interface Row {
  readonly reason: string
  readonly code: RefusalCode
  /** Options under which a good token is let through, with these in addition. */
  readonly options?: object
  readonly url?: string
  /** The Authorization lines, if they are not just `Bearer` and the token. */
  readonly lines?: readonly string[]
  readonly token?: string
}

const INVALID = 'ERR_AUTH_TOKEN_INVALID'
const DIGEST = 'A'.repeat(43)
const { cert } = selfSigned('client.test')
const hour = 3600
const now = Math.floor(Date.now() / 1000)
const [header, payload, signature] = partsOf(goodToken())
const stranger = forgeKey('ES256', 'probe')
const never = () => new Promise<never>(() => {})
const fail = () => {
  throw new TypeError('on purpose')
}
const USER = tempFolder().write('{"sub":"alice"}', 'user.json')
/** Lists in one another. */
const DEEP = `${'['.repeat(99)}${']'.repeat(99)}`

/** Tokens that are refused as they are. */
const TOKENS: readonly [reason: string, token: string][] = [
  ['not three parts', `${header}.${payload}`],
  // As many as an encrypted token has.
  ['not three parts', `${header}..${payload}.${payload}.${signature}`],
  ['a part is not base64url', `${header}.${payload}=.${signature}`],
  ['a part is not UTF-8', forge(KEY, { payload: Buffer.from([0x7b, 0xff, 0x7d]) })],
  ['a part is not JSON', forge(KEY, { payload: '{' })],
  ['there is no signature', `${header}.${payload}.`],
  ['a part is not a JSON object', forge(KEY, { payload: '[]' })],
  ['header extensions are not supported', goodToken({}, { crit: ['exp'] })],
  ['the algorithm is not allowed', goodToken({}, { alg: 'none' })],
  ...['HS256', 'HS384', 'HS512'].map((alg): [string, string] => [
    'signed with a secret, not with a key: sharedSecret as opaqueToken takes such access tokens',
    goodToken({}, { alg }),
  ]),
  ['the token type is not allowed', goodToken({}, { typ: 'logout+jwt' })],
  ['the kid is not a string', goodToken({}, { kid: 5 })],
  ['the alg is not a string', goodToken({}, { alg: 5 })],
  ['the typ is not a string', goodToken({}, { typ: 5 })],
  ['the alg is missing', goodToken({}, { alg: undefined })],
  ['the header is too long', goodToken({}, { x: 'x'.repeat(2048) })],
  ['the header has too many members', goodToken({}, { x: Array.from({ length: 65 }, () => []) })],
  ['bound to its sender', goodToken({ cnf: { jkt: 'x' } })],
  ['the key is unknown', goodToken({}, { kid: 'other' })],
  ['no key fits', goodToken({}, { alg: 'RS256' })],
  ['the signature does not match', forge(stranger, { payload: goodClaims() })],
  ['the issuer is not accepted', goodToken({ iss: 'other' })],
  ['the audience is not accepted', goodToken({ aud: 'other' })],
  ['exp is missing', goodToken({ exp: undefined })],
  ['a logout token', goodToken({ events: LOGOUT })],
  ['exp is not a time', goodToken({ exp: 'soon' })],
  ['nbf is not a time', goodToken({ nbf: null })],
  ['iat is not a time', goodToken({ iat: '5' })],
  ['act is malformed', goodToken({ act: 'admin' })],
  ['expired', goodToken({ exp: now - hour })],
  ['not valid yet', goodToken({ nbf: now + hour })],
  ['issued in the future', goodToken({ iat: now + hour })],
  ['sub, resources or preferred_username is malformed', goodToken({ sub: '' })],
  ['the claims are nested too deeply', goodToken({ deep: JSON.parse(DEEP) })],
]

/** The scheme of a bound or an unbound token, its claims, and further options. */
const BOUND: readonly [reason: string, claims: object, scheme?: string, more?: object][] = [
  ['bound to its sender in an unknown way', { cnf: { other: 'x' } }],
  ['cnf is malformed', { cnf: { jkt: 5 } }],
  ['an unbound token with the scheme DPoP', {}, 'DPoP'],
  ['not bound to its sender', {}, 'Bearer', { confirmation: 'require' }],
  ['bound to a certificate, with the scheme DPoP', { cnf: { 'x5t#S256': DIGEST } }, 'DPoP'],
  ['bound to a key, with the scheme Bearer', { cnf: { jkt: DIGEST } }],
  ['DPoP proof: there is none', { cnf: { jkt: DIGEST } }, 'DPoP'],
  ['bound to a certificate, and there is none', { cnf: { 'x5t#S256': DIGEST } }],
  [
    'bound to another certificate',
    { cnf: { 'x5t#S256': DIGEST } },
    'Bearer',
    { clientCertificate: () => cert },
  ],
]

/** Options under which a good token is refused. */
const OPTIONS: readonly [reason: string, options: object][] = [
  ['longer than maxTokenLength', { maxTokenLength: goodToken().length - 1 }],
  ['mapClaims failed', { mapClaims: fail }],
  ['the claims are no object', { mapClaims: () => 5 }],
  [
    'the resources of mapClaims cannot be used',
    { mapClaims: () => ({ sub: 'a', resources: new Map() }) },
  ],
  ['revoked', { isRevoked: () => true }],
]

/** Authorization lines without a token that can be read, and how a token is found otherwise. */
const LINES: readonly [reason: string, lines: readonly string[], options?: object][] = [
  ['the header names the scheme and no token', ['Bearer']],
  ['the header is malformed', ['Bearer\tabc']],
  ['several Authorization headers', [`Bearer ${goodToken()}`, `Bearer ${goodToken()}`]],
  ['tokenFrom gave no string', [], { tokenFrom: () => 5 }],
  ['tokenFrom failed', [], { tokenFrom: fail }],
]

const REFUSED_TOKENS: readonly Row[] = [
  ...TOKENS.map(([reason, token]) => ({ reason, code: INVALID, token }) as const),
  ...BOUND.map(
    ([reason, claims, scheme = 'Bearer', more = {}]): Row => ({
      reason,
      code: INVALID,
      lines: [`${scheme} ${goodToken(claims)}`],
      options: { confirmation: 'check', publicUrl: 'https://api.test', ...more },
    }),
  ),
  ...OPTIONS.map(([reason, options]) => ({ reason, code: INVALID, options }) as const),
  ...LINES.map(
    ([reason, lines, options = {}]) => ({ reason, code: INVALID, lines, options }) as const,
  ),
  { reason: 'no bearer token', code: 'ERR_AUTH_TOKEN_MISSING', lines: [] },
  {
    reason: 'no usable key set can be had',
    code: 'ERR_AUTH_KEYS_UNAVAILABLE',
    options: { publicKeys: undefined, publicKeysUrl: 'http://127.0.0.1:1/keys' },
  },
]

const resource = 'https://api.test/:tenant/mcp'
const TENANTS: readonly Row[] = [
  {
    reason: 'the token is not for the address of this tenant',
    code: INVALID,
    options: { resource },
  },
  {
    reason: 'the token is for addresses of tenants only',
    code: INVALID,
    url: '/handler',
    token: goodToken({ aud: 'https://api.test/acme/mcp' }),
    options: { resource },
  },
  {
    reason: 'not one tenant name',
    code: 'ERR_AUTH_TENANT_INVALID',
    url: '/query?tenant=acme&tenant=acme',
  },
  { reason: 'no tenant is given', code: 'ERR_AUTH_TENANT_MISSING', url: '/query' },
  {
    reason: 'the user may not act for the tenant',
    code: 'ERR_AUTH_TENANT_FORBIDDEN',
    url: '/query?tenant=other',
  },
  {
    reason: 'the tenant does not exist',
    code: 'ERR_AUTH_TENANT_UNKNOWN',
    options: { tenants: ['other'] },
  },
  {
    reason: 'the tenant is suspended',
    code: 'ERR_AUTH_TENANT_SUSPENDED',
    options: { tenants: { ids: ['acme'], suspended: ['acme'] } },
  },
  {
    reason: 'no tenant list can be had',
    code: 'ERR_AUTH_TENANTS_UNAVAILABLE',
    options: { tenants: 'http://127.0.0.1:1/tenants' },
  },
  {
    reason: 'a required resource is missing',
    code: 'ERR_AUTH_RESOURCE_MISSING',
    url: '/needs?tenant=acme',
  },
  { reason: 'not a tenant name in in()', code: 'ERR_AUTH_TENANT_INVALID', url: '/handler' },
]

/** Options of several issuers, in the place of the only one. */
const SEVERAL = { publicKeys: undefined, issuer: undefined }

/** Functions of the application, what their reasons begin with, and the code of each. */
const ASKED = [
  ['isRevoked', 'isRevoked', 'ERR_AUTH_REVOCATION_UNAVAILABLE'],
  ['tenants', 'the tenants function', 'ERR_AUTH_TENANTS_UNAVAILABLE'],
  ['resolveTenant', 'resolveTenant', 'ERR_AUTH_TENANTS_UNAVAILABLE'],
  ['issuers', 'the issuers function', 'ERR_AUTH_ISSUERS_UNAVAILABLE'],
  ['opaqueToken', 'opaqueToken', 'ERR_AUTH_INTROSPECTION_UNAVAILABLE'],
  ['resourcesOf', 'resourcesOf', 'ERR_AUTH_RESOURCES_UNAVAILABLE'],
] as const

const FUNCTIONS: readonly Row[] = ASKED.flatMap(([option, name, code]): Row[] => {
  const more = option === 'issuers' ? SEVERAL : {}
  const token = option === 'opaqueToken' ? 'opaque' : goodToken()
  const row = (reason: string, given: () => unknown, limits = {}): Row => {
    const options = { ...more, ...limits, [option]: given }
    return { reason: `${name} ${reason}`, code, token, options }
  }
  return [
    row('failed (TypeError)', fail),
    row('failed (TypeError)', async () => fail()),
    row('failed (no error object)', () => Promise.reject('no')),
    row('is late', never, { tenantsTimeout: 0.01 }),
    // Of a tenant's name each answer is judged as the query would be.
    ...(option === 'resolveTenant' ? [] : [row('gave no usable answer', () => 'maybe')]),
  ]
})

const ISSUERS: readonly Row[] = [
  {
    reason: 'the issuer is missing',
    code: INVALID,
    token: goodToken({ iss: undefined }),
    options: { ...SEVERAL, issuers: () => null },
  },
  {
    reason: 'the issuer is not accepted',
    code: INVALID,
    options: { ...SEVERAL, issuers: () => null },
  },
  {
    reason: 'the issuer is not accepted',
    code: INVALID,
    options: {
      ...SEVERAL,
      issuers: ['a', 'b'].map((name) => ({
        issuer: `https://${name}.test`,
        publicKeys: { keys: [KEY.publicJwk] },
        tenants: '*',
      })),
    },
  },
]

const OPAQUE: readonly Row[] = [
  {
    reason: 'longer than maxTokenLength',
    code: INVALID,
    token: 'a'.repeat(16_385),
    options: { opaqueToken: () => goodClaims() },
  },
  {
    reason: 'characters that no token has',
    code: INVALID,
    token: 'a\u00e4',
    options: { opaqueToken: () => goodClaims() },
  },
  {
    reason: 'opaqueToken does not know the token',
    code: INVALID,
    token: 'opaque',
    options: { opaqueToken: () => null },
  },
]

const RIGHTS: readonly Row[] = [
  {
    reason: 'resourcesOf needs the claim sub',
    code: INVALID,
    token: goodToken({ sub: undefined }),
    options: { resourcesOf: () => null, mapClaims: () => ({ sub: 'u' }) },
  },
  {
    reason: 'the claim sub is no whole text',
    code: INVALID,
    token: goodToken({ sub: 'a\ud800' }),
    options: { resourcesOf: () => null },
  },
  {
    reason: 'the user may not act for the tenant: resourcesOf does not know the user',
    code: 'ERR_AUTH_TENANT_FORBIDDEN',
    options: { resourcesOf: () => null },
  },
]

const GUARD: readonly Row[] = [
  { reason: 'the guard failed (Error)', code: INVALID, url: '/query?tenant=throw' },
]

const ROWS = [
  ...[...REFUSED_TOKENS, ...TENANTS, ...FUNCTIONS],
  ...[...ISSUERS, ...OPAQUE, ...RIGHTS, ...GUARD],
]

function writeRoutes(app: FastifyInstance): void {
  const config = { tenant: true } as const
  app.get('/query', { config }, async () => 'let through')
  app.get('/needs', { config: { ...config, require: 'menu:erase' } }, async () => 'let through')
  app.get('/handler', { config: { authorization: true } }, async ({ authorization }) =>
    authorization.in(''),
  )
}

/** A parser whose result throws when it is read. */
function querystringParser(text: string): Record<string, unknown> {
  const tenants = new URLSearchParams(text).getAll('tenant')
  return {
    get tenant() {
      if (tenants[0] === 'throw') throw new Error('on purpose')
      return tenants.length > 1 ? tenants : tenants[0]
    },
  }
}

/** The whole answer to a request over the wire, where one header may have several lines. */
async function ask(app: FastifyInstance, url: string, lines: readonly string[]): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const authorization = lines.map((line) => `authorization: ${line}`)
  return rawRequest(app, `GET ${url} HTTP/1.1`, 'host: x', 'connection: close', ...authorization)
}

/** The same without a connection. */
async function inject(
  app: FastifyInstance,
  url: string,
  line: string | undefined,
): Promise<string> {
  const headers = line === undefined ? {} : { authorization: line }
  const { statusCode, body } = await app.inject({ url, headers })
  return `HTTP/1.1 ${statusCode}\r\n\r\n${body}`
}

for (const [index, row] of ROWS.entries()) {
  const { reason, code, url = '/query?tenant=acme', token = goodToken() } = row
  test(`${index + 1}: "${reason}" is the reason of ${code}, for the log alone`, async (t) => {
    const log = logLines()
    const app = bareApp(t, { logger: log.logger, routerOptions: { querystringParser } })
    const trusted = { publicKeys: { keys: [KEY.publicJwk] }, issuer: ISSUER, audience: AUDIENCE }
    // A value that a JavaScript application may give all the same.
    const options: AuthOptions = Object.fromEntries(
      Object.entries({ ...trusted, ...row.options }).filter(([, value]) => value !== undefined),
    )
    const read: unknown[] = []
    app.addHook('onError', async (_request, _reply, error) => {
      if (error instanceof errors.ERR_AUTH_TOKEN_INVALID) read.push({ ...error.mismatch })
    })
    await app.register(tenantAuth, options)
    writeRoutes(app)
    const lines = row.lines ?? [`Bearer ${token}`]
    const answer = await (lines.length > 1 ? ask(app, url, lines) : inject(app, url, lines[0]))
    assert.equal(outcomeOf(answer), `${REFUSALS[code].status} ${code}`)
    const refused = log.lines('request refused')
    const found = refused.map((line) => [line['code'], line['reason']])
    assert.deepEqual(found, [[code, reason]])
    // A hook that has read the mismatch leaves the whole of it to the log.
    assert.deepEqual(
      read,
      code === INVALID ? refused.map(({ mismatch }) => ({ ...Object(mismatch) })) : [],
    )
    const message: string = REFUSALS[code].message
    if (reason.toLowerCase() !== message.toLowerCase()) assert.equal(answer.includes(reason), false)
  })
}

/** Reasons to refuse a logout, each with the form and the options of the guard. */
const LOGOUTS: readonly [reason: string, form: string, auth?: AuthOptions][] = [
  ['no logout_token', 'a=b'],
  ['several logout_token', 'logout_token=a&logout_token=b'],
  ['no logout token', formOf(logoutToken({ events: undefined }))],
  ['a logout token with a nonce', formOf(logoutToken({ nonce: 'n' }))],
  ['jti is missing', formOf(logoutToken({ jti: undefined }))],
  ['jti is malformed', formOf(logoutToken({ jti: 7 }))],
  ['sub is malformed', formOf(logoutToken({ sub: 7 }))],
  ['sid is malformed', formOf(logoutToken({ sid: 7 }))],
  ['iat is missing', formOf(logoutToken({ iat: undefined }))],
  ['iat is not a time', formOf(logoutToken({ iat: -1e300 }))],
  ['neither sub nor sid', formOf(logoutToken({ sub: undefined, sid: undefined }))],
  ['dev mode', formOf(logoutToken()), { devMode: true, devUserInfoPath: USER }],
]

for (const [reason, form, auth = {}] of LOGOUTS) {
  test(`"${reason}" is the reason of a refused logout, for the log alone`, async (t) => {
    const log = logLines()
    const { post } = await logoutApp(t, { logger: log.logger, auth })
    const { statusCode, body } = await post(form)
    assert.deepEqual([statusCode, body], [400, '{"error":"invalid_request"}'])
    const found = log.lines('logout refused').map((line) => [line['code'], line['reason']])
    assert.deepEqual(found, [[INVALID, reason]])
  })
}

test('the table has every reason to refuse a token', () => {
  const inTable = new Set([
    ...ROWS.map(({ reason }) => reason),
    ...LOGOUTS.map(([reason]) => reason),
    // With a proof beside the token: test/behaviour/bound-proofs.test.ts.
    'the DPoP proof is of another key',
  ])
  const inSource = readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join('lib', file), 'utf8'))
    .flatMap((text) => [...text.matchAll(/tokenRefusal\(\s*'([^']+)'/g)])
    .map(([, reason]) => reason)
  assert.equal(inSource.length > 20, true, 'the sources are read')
  const found = inSource.filter((reason) => reason === undefined || !inTable.has(reason))
  assert.deepEqual(found, [])
})
