import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import Fastify from 'fastify'
import { INI_KEYS } from '../../../lib/config/ini-values.ts'
import { loadSettings } from '../../../lib/config/load-settings.ts'
import { matrixDifferences } from '../../../lib/entrypoints/cli/policy/diff-matrix.ts'
import { matrixJson, readMatrix } from '../../../lib/entrypoints/cli/policy/matrix.ts'
import { matrixPage } from '../../../lib/entrypoints/cli/policy/matrix-page.ts'
import { matrixMarkdown, matrixTable } from '../../../lib/entrypoints/cli/policy/matrix-table.ts'
import { sharedSecret } from '../../../lib/entrypoints/introspection/index.ts'
import { backchannelLogout, denyList } from '../../../lib/entrypoints/revocation/index.ts'
import { ERR_AUTH_CONFIG_INVALID } from '../../../lib/errors.ts'
import { type KeySet, readKeySet } from '../../../lib/identity/jwks/jwk-set.ts'
import tenantAuth from '../../../lib/index.ts'
import { Unusable } from '../../../lib/platform/http/failure.ts'
import { CLIENT, logoutClaims, logoutToken, URL_OF_LOGOUT } from '../../helpers/app/logout-app.ts'
import { dpop, HOLDER, hashOf, PUBLIC, proofOf } from '../../helpers/tokens/bound.ts'
import { encode, forge, forgeKey } from '../../helpers/tokens/forge.ts'
import { AUDIENCE, goodClaims, ISSUER, KEY } from '../../helpers/tokens/probe.ts'
import type { Target } from './fuzzer.ts'

const SECRET = 'a secret of the fuzzer, of 37 bytes..'
const LATER = { exp: Math.floor(Date.now() / 1000) + 80_000 }
const HEADER = { alg: 'ES256', kid: KEY.kid, typ: 'at+jwt' }
const now = () => Date.now() / 1000

function hs256(claims: object): string {
  const input = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
  return `${input}.${createHmac('sha256', SECRET).update(input).digest('base64url')}`
}

/** Whatever can be sent to this application, it is never a 500. */
async function openApp() {
  // At this level the log shows what was found, too.
  const app = Fastify({ logger: { level: 'debug', stream: { write: () => {} } } })
  const revoked = denyList()
  await app.register(tenantAuth, {
    issuer: ISSUER,
    audience: AUDIENCE,
    publicKeys: { keys: [KEY.publicJwk] },
    opaqueToken: sharedSecret({ secrets: SECRET, issuer: ISSUER, audience: AUDIENCE }),
    isRevoked: revoked,
    confirmation: 'check',
    publicUrl: PUBLIC,
    superuserResource: 'all:all',
    implies: { 'menu:edit': ['menu:read'] },
  })
  await app.register(backchannelLogout, { revoked, clients: [CLIENT] })
  app.get('/me', async () => 'ok')
  app.get('/t/:tenant', { config: { tenant: true, require: 'menu:read' } }, async () => 'ok')
  const stepUp = { acr: 'phr', maxAge: 300 }
  app.get('/vault', { config: { userInfo: true, stepUp } }, async () => 'ok')
  await app.ready()
  return app
}

const app = await openApp()
/** Here whatever the issuer signs may come, and that logs users out, too. */
const signedApp = await openApp()

async function statusOf(
  authorization: string,
  { url = '/me', proof, to = app }: { url?: string; proof?: string; to?: typeof app } = {},
): Promise<number> {
  const headers = { authorization, ...(proof !== undefined && { dpop: proof }) }
  return (await to.inject({ url, headers })).statusCode
}

const GOOD = forge(KEY, { payload: goodClaims(LATER) })
const BOUND_CLAIMS = goodClaims({ ...LATER, cnf: { jkt: HOLDER.thumbprint } })
const BOUND = forge(KEY, { payload: BOUND_CLAIMS })
const SIGNED = [GOOD, hs256(goodClaims(LATER))]
const STRANGER = forgeKey('ES256', 'stranger')

/** One of a few texts is let in, and everything else is 401. */
function expect(status: number, isGood: boolean): string | null {
  return status === (isGood ? 200 : 401) ? null : `${status}, where good is ${isGood}`
}

const TOKEN_WORDS = [
  ...[
    '.',
    '..',
    '=',
    'e30',
    'bnVsbA',
    'eyJhbGciOiJub25lIn0',
    ' ',
    ',',
    'Bearer ',
    'DPoP ',
    'Basic ',
  ],
  ...GOOD.split('.'),
]

const tokenText: Target = {
  name: 'the text of a token',
  words: TOKEN_WORDS,
  seeds: [
    ...SIGNED,
    BOUND,
    logoutToken(),
    forge(KEY, { payload: goodClaims({ exp: 1 }) }),
    forge(STRANGER, { payload: goodClaims(LATER) }),
    `${encode({ alg: 'none' })}.${encode(goodClaims())}.`,
    'opaque-token',
  ],
  run: async (input) => {
    // Spaces before it do not belong to a token.
    const isGood = SIGNED.includes(input.replace(/^ +/, ''))
    return expect(await statusOf(`Bearer ${input}`), isGood)
  },
}

const authorization: Target = {
  name: 'the header Authorization',
  words: TOKEN_WORDS,
  seeds: [`Bearer ${GOOD}`, `bearer  ${GOOD}`, `DPoP ${BOUND}`, 'Bearer', 'Basic dTpw', ''],
  run: async (input) => {
    const [, token = ''] = /^bearer +(.*)$/is.exec(input) ?? []
    return expect(await statusOf(input), SIGNED.includes(token))
  },
}

const CLAIM_WORDS = [
  ...['iss', 'aud', 'sub', 'exp', 'nbf', 'iat', 'jti', 'sid', 'resources', 'cnf', 'act', 'events'],
  ...[
    'nonce',
    'acr',
    'auth_time',
    'alg',
    'kid',
    'typ',
    'crit',
    'b64',
    'jwk',
    'acme',
    '*',
    'all:all',
  ],
  ...[
    'menu:read',
    'menu:edit',
    ISSUER,
    AUDIENCE,
    CLIENT,
    'JWT',
    'at+jwt',
    'logout+jwt',
    'none',
    'phr',
  ],
  ...[
    '{"jkt":"a"}',
    '{"sub":"bob","act":{"sub":"eve"}}',
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    '1e999',
  ],
]

/** JSON as a reader of the contract reads it; undefined: it is no object. */
function objectIn(text: string): Map<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isPlain ? new Map(Object.entries(value)) : undefined
  } catch {
    return undefined
  }
}

function halvesOf(input: string): [header: string, claims: string] {
  const at = input.indexOf('\n')
  return at < 0 ? ['', input] : [input.slice(0, at), input.slice(at + 1)]
}

const member = (value: unknown, name: string): unknown =>
  new Map(Object.entries(Object(value))).get(name)

const isIn = (value: unknown, one: string) => [value].flat().includes(one)

function hasTime(claims: Map<string, unknown>, isRequired: boolean): boolean {
  const exp = claims.get('exp')
  if (exp === undefined ? isRequired : !(Number.isFinite(exp) && now() < Number(exp) + 5))
    return false
  return ['nbf', 'iat'].every((name) => {
    const time = claims.get(name)
    return time === undefined || (Number.isFinite(time) && Number(time) - 5 <= now())
  })
}

function isHeader(header: Map<string, unknown> | undefined, types: RegExp): boolean {
  if (header === undefined || header.get('alg') !== 'ES256') return false
  if (header.has('crit') || header.has('b64')) return false
  const [kid, typ] = [header.get('kid'), header.get('typ')]
  return (kid === undefined || kid === KEY.kid) && (typ === undefined || types.test(String(typ)))
}

/** What must be so where a signed token is let in to acme. */
function mayEnter([header, text]: [string, string]): boolean {
  const claims = objectIn(text)
  if (claims === undefined || !isHeader(objectIn(header), /^(application\/)?(at\+)?jwt$/i))
    return false
  const sub = claims.get('sub')
  const resources = claims.get('resources')
  const held = ['acme', '*'].flatMap((name) => member(resources, name) ?? [])
  return (
    typeof sub === 'string' &&
    sub !== '' &&
    claims.get('iss') === ISSUER &&
    isIn(claims.get('aud'), AUDIENCE) &&
    hasTime(claims, true) &&
    Object.keys(Object(claims.get('cnf') ?? {})).length === 0 &&
    member(claims.get('events'), 'http://schemas.openid.net/event/backchannel-logout') ===
      undefined &&
    (held.includes('all:all') || member(resources, 'acme') !== undefined) &&
    ['menu:read', 'menu:edit', 'all:all'].some((id) => held.includes(id))
  )
}

function mayLogOut([header, text]: [string, string]): boolean {
  const claims = objectIn(text)
  if (claims === undefined || !isHeader(objectIn(header), /^(application\/)?(logout\+)?jwt$/i))
    return false
  return (
    claims.get('iss') === ISSUER &&
    isIn(claims.get('aud'), CLIENT) &&
    hasTime(claims, true) &&
    claims.has('iat') &&
    claims.has('jti') &&
    !claims.has('nonce') &&
    (claims.has('sub') || claims.has('sid'))
  )
}

const signedClaims: Target = {
  name: 'what a signed token says',
  words: CLAIM_WORDS,
  seeds: [
    `${JSON.stringify(HEADER)}\n${JSON.stringify(goodClaims(LATER))}`,
    `${JSON.stringify(HEADER)}\n${JSON.stringify(goodClaims({ ...LATER, acr: 'phr', auth_time: 1, act: { sub: 'bob' } }))}`,
    `${JSON.stringify({ ...HEADER, typ: 'logout+jwt' })}\n${JSON.stringify(logoutClaims(LATER))}`,
    `${JSON.stringify(HEADER)}\n${JSON.stringify(BOUND_CLAIMS)}`,
  ],
  run: async (input) => {
    const parts = halvesOf(input)
    const token = forge(KEY, { header: parts[0], payload: parts[1] })
    const status = await statusOf(`Bearer ${token}`, { url: '/t/acme', to: signedApp })
    if (![200, 401, 403].includes(status)) return `${status} in a tenant`
    if (status === 200 && !mayEnter(parts)) return 'it is let in'
    const late = await statusOf(`Bearer ${token}`, { url: '/vault', to: signedApp })
    if (![200, 401].includes(late)) return `${late} with a step-up`
    if (late === 200 && objectIn(parts[1])?.get('acr') !== 'phr') return 'it needs no login'
    const { statusCode } = await signedApp.inject({
      method: 'POST',
      url: URL_OF_LOGOUT,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `logout_token=${token}`,
    })
    // Nobody else's token may end alice's.
    if (statusCode === 200 && !mayLogOut(parts)) return 'it logs out'
    return [200, 400, 413].includes(statusCode) ? null : `${statusCode} of the logout`
  },
}

const PROOF_WORDS = [
  ...['typ', 'dpop+jwt', 'alg', 'ES256', 'EdDSA', 'jwk', 'kty', 'crv', 'x', 'y', 'd', 'k', 'crit'],
  ...[
    'htm',
    'GET',
    'POST',
    'htu',
    `${PUBLIC}/me`,
    '?a',
    '#a',
    '%6D',
    'HTTPS',
    ':443',
    '/../',
    '//',
  ],
  ...[
    'iat',
    'jti',
    'ath',
    hashOf(BOUND),
    'nonce',
    '"',
    ',',
    '[',
    '{',
    '1e999',
    String(HOLDER.jwk.x),
  ],
]

function proofParts(claims: object, header: object = {}): string {
  const iat = Math.floor(now())
  const good = { jti: 'j', htm: 'GET', htu: `${PUBLIC}/me`, iat, ath: hashOf(BOUND) }
  const whole = { typ: 'dpop+jwt', alg: 'ES256', jwk: HOLDER.jwk, ...header }
  return `${JSON.stringify(whole)}\n${JSON.stringify({ ...good, ...claims })}`
}

/** RFC 9449 §4.3, of a proof that the holder of the key has signed. */
function mayProve([header, text]: [string, string], seen: ReadonlySet<unknown>): boolean {
  const [head, claims] = [objectIn(header), objectIn(text)]
  if (head?.get('typ') !== 'dpop+jwt' || head.get('alg') !== 'ES256' || head.has('crit'))
    return false
  const jwk = head.get('jwk')
  const isPublic = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].every(
    (name) => member(jwk, name) === undefined,
  )
  const isHolder = ['kty', 'crv', 'x', 'y'].every(
    (name) => member(jwk, name) === member(HOLDER.jwk, name),
  )
  const [iat, jti] = [claims?.get('iat'), claims?.get('jti')]
  return (
    isPublic &&
    isHolder &&
    claims?.get('htm') === 'GET' &&
    isMe(String(claims.get('htu'))) &&
    claims.get('ath') === hashOf(BOUND) &&
    Number.isFinite(iat) &&
    Math.abs(Number(iat) - now()) <= 301 &&
    typeof jti === 'string' &&
    jti !== '' &&
    !seen.has(jti)
  )
}

function isMe(htu: string): boolean {
  const { origin, pathname, username, password } = new URL(htu)
  const path = pathname.replaceAll(/%(?:6[1-9a-f]|7[0-9ae])/gi, decodeURIComponent)
  return origin === PUBLIC && path === '/me' && username === '' && password === ''
}

const taken = new Set<unknown>()

const signedProof: Target = {
  name: 'what a proof says',
  words: PROOF_WORDS,
  seeds: [
    proofParts({}),
    proofParts({ jti: 'k', htu: `${PUBLIC}/%6De?a#b`, nonce: 'n' }),
    proofParts({ jti: 'l', iat: 1 }),
    proofParts({ jti: 'm' }, { crit: ['exp'] }),
    proofParts({}, { jwk: { kty: 'oct', k: 'AAAA' } }),
  ],
  run: async (input) => {
    const parts = halvesOf(input)
    const proof = proofOf(HOLDER, { header: parts[0], claims: parts[1] })
    const status = await statusOf(`DPoP ${BOUND}`, { proof })
    if (status === 401) return null
    if (status !== 200) return `${status}`
    if (!mayProve(parts, taken)) return 'it is let in'
    taken.add(objectIn(parts[1])?.get('jti'))
    return null
  },
}

const USED = proofOf(HOLDER, { token: BOUND })
const FOREIGN = proofOf(HOLDER, { token: 'another' })

const proofHeader: Target = {
  name: 'the header DPoP',
  words: ['.', ',', ', ', '=', 'DPoP ', ' ', ...USED.split('.'), ...FOREIGN.split('.')],
  seeds: [USED, FOREIGN, `${USED}, ${USED}`, '', '..', 'e30.e30.AA'],
  // What has been sent once is used up, and nothing else is signed.
  run: async (input) => expect(await statusOfProof(input), false),
}

function statusOfProof(given: string): Promise<number> {
  const { authorization, dpop: proof } = dpop(BOUND, given)
  return statusOf(authorization, { proof })
}

await statusOfProof(USED)

/** @param path of a file that may be overwritten */
export function iniTarget(path: string): Target {
  return {
    name: 'an INI file',
    words: [
      ...[
        '[auth]',
        '[auth.x]',
        '[tenants]',
        '[implies]',
        '[app]',
        'ids',
        'tenant_url',
        'suspended',
      ],
      ...INI_KEYS.auth.keys(),
      ...[' = ', 'yes', 'no', '5', 'https://a.test', 'menu:read', ';', '#', '"', "'", '\n', '\r\n'],
      ...['\ufeff', '__proto__', '[', ']', '[]', 'ES256', 'refuse', '\\'],
    ],
    seeds: [
      '[auth]\nissuer = https://a.test\naudience = lunch\nmultitenancy = yes\n[tenants]\nids = a b\n',
      '[auth]\ndev_mode = yes ; so\nrealm = "a # b"\n',
      '[auth.x]\nissuer = https://x.test\naudience = a\ntenants = *\n[implies]\na:b = c:d\n',
      '\ufeff[app]\nx = 1\n[auth]\nclock_tolerance = 2.5\nalgorithms = ES256, EdDSA\n',
      '[auth]\nissuer = https://a.test\nresource = https://api.test/:tenant/x\nsuspended_tenants = read\n',
    ],
    run: (input) => {
      writeFileSync(path, input)
      try {
        const { settings } = loadSettings({ configFile: path })
        const saysDev = /^\s*dev_mode\s*=\s*["']?(?:yes|true|on|1)\b/im.test(input)
        return settings.devMode && !saysDev ? 'it turns dev mode on' : null
      } catch (error) {
        if (!(error instanceof ERR_AUTH_CONFIG_INVALID)) throw error
        return error.message.length > 20_000 ? 'a long message' : null
      }
    },
  }
}

const RSA = forgeKey('RS256', 'rsa')
const ED = forgeKey('EdDSA', 'ed')

const keySet: Target = {
  name: 'a JWKS answer',
  words: [
    ...['keys', 'kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg', 'use', 'key_ops', 'd', 'k', 'x5c'],
    ...[
      'EC',
      'RSA',
      'OKP',
      'oct',
      'P-256',
      'P-384',
      'Ed25519',
      'ES256',
      'HS256',
      'sig',
      'enc',
      'AQAB',
    ],
    ...['verify', 'AQ', 'jwks_uri', 'probe', 'stranger'],
  ],
  seeds: [
    JSON.stringify({ keys: [KEY.publicJwk, RSA.publicJwk, ED.publicJwk] }),
    JSON.stringify({ keys: [{ ...STRANGER.publicJwk, use: 'enc' }, KEY.publicJwk] }),
    JSON.stringify({
      keys: [{ ...STRANGER.privateKey.export({ format: 'jwk' }), kid: 'stranger' }],
    }),
    JSON.stringify({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'probe', alg: 'HS256' }] }),
    JSON.stringify({ jwks_uri: 'https://a.test/keys' }),
  ],
  run: (input) => {
    let answer: unknown
    try {
      answer = JSON.parse(input)
    } catch {
      return null
    }
    try {
      return badKeyIn(readKeySet(answer), answer)
    } catch (error) {
      if (error instanceof Unusable) return null
      throw error
    }
  },
}

/** A number of a key, however it is spelt. */
function bytesIn(jwk: unknown, name: string): string {
  const text = member(jwk, name)
  return Buffer.from(typeof text === 'string' ? text : '', 'base64url')
    .toString('hex')
    .replace(/^(?:00)+/, '')
}

/** A member that says something: null, and a list without operations, do not. */
function saidMember(jwk: unknown, name: string): unknown {
  const value = member(jwk, name) ?? undefined
  return name === 'key_ops' && Array.isArray(value) && value.length === 0 ? undefined : value
}

/** Each key is one of the answer, for signatures, public, and strong enough. */
function badKeyIn(set: KeySet, answer: unknown): string | null {
  const members: unknown[] = [member(answer, 'keys')].flat()
  for (const kid of set.kids) {
    for (const alg of ['ES256', 'RS256', 'PS256', 'EdDSA', 'HS256', 'none']) {
      const found = set.find({ kid, alg })
      if (typeof found === 'string') continue
      const { key } = found
      if (key.type !== 'public' || /^HS|none/.test(alg)) return `a ${key.type} key for ${alg}`
      if (Number(key.asymmetricKeyDetails?.modulusLength ?? 2048) < 2048) return 'a weak key'
      const own = key.export({ format: 'jwk' })
      const fits = members.some((one) => {
        const [use, named, ops] = ['use', 'alg', 'key_ops'].map((name) => saidMember(one, name))
        const isSame = ['x', 'n'].every(
          (name) => own[name] === undefined || bytesIn(one, name) === bytesIn(own, name),
        )
        const isPrivate = ['d', 'k', 'p'].some((name) => saidMember(one, name) !== undefined)
        const isFor =
          (use === undefined || use === 'sig') && (ops === undefined || isIn(ops, 'verify'))
        const isNamed =
          (kid === undefined || member(one, 'kid') === kid) &&
          (named === undefined || named === alg || /^Ed/.test(String(named)))
        return isSame && isFor && isNamed && !isPrivate
      })
      if (!fits) return `a key for ${alg} that the answer does not give`
    }
  }
  return null
}

const ROUTE = {
  method: 'GET',
  url: '/orders',
  noauth: false,
  tenant: 'query',
  require: ['order:read'],
  check: ['owner'],
  stepUp: { acr: ['phr'], maxAge: 300 },
  confirmation: 'require',
  seen: true,
  userInfo: true,
  resources: false,
  authorization: false,
}
const LOCK = JSON.stringify({
  applications: [
    {
      routes: [
        ROUTE,
        {
          ...ROUTE,
          url: '/:tenant/x',
          tenant: 'path',
          require: { any: ['a:b', 'c:d'] },
          suspended: true,
        },
        {
          ...ROUTE,
          url: '/by',
          require: { among: ['a:b', 'c:d'] },
          constraints: { host: 'a.test' },
        },
      ],
      implies: { 'a:b': ['c:d'] },
    },
  ],
})
const NOWHERE = { beside: [[]], unguarded: [] }

function matrixOf(text: string) {
  const matrix = readMatrix(text)
  if (typeof matrix === 'string') throw new Error(matrix)
  return matrix
}

const lock: Target = {
  name: 'the lock file of the policy',
  words: [
    ...Object.keys(ROUTE),
    ...[
      'guests',
      'suspended',
      'late',
      'constraints',
      'any',
      'among',
      'path',
      'query',
      'optional',
      'GET',
    ],
    ...[
      'HEAD',
      'POST',
      '/:tenant/x',
      '/*',
      '/a/:id',
      '/(.*)',
      'a:b',
      '<script>',
      '|',
      '`',
      '&',
      'implies',
    ],
    ...['applications', 'routes', '\u202e', '\u001b[31m'],
  ],
  seeds: [LOCK, `\ufeff${LOCK}`, JSON.stringify({ applications: [] }), '{}', '[]', ''],
  run: (input) => {
    const matrix = readMatrix(input)
    if (typeof matrix === 'string') return null
    const text = matrixJson(matrix)
    if (matrixJson(matrixOf(text)) !== text) return 'it is written in two ways'
    if (matrixDifferences(matrix, matrix, NOWHERE).length > 0) return 'it differs from itself'
    const page = matrixPage(matrix)
    if (/<script>(?!\s*(?:const|\())/.test(page) && page.split('<script').length > 3)
      return 'a script'
    const shown = matrixTable(matrix, String) + matrixMarkdown(matrix) + text
    if (['\u001b', '\u202e'].some((letter) => shown.includes(letter))) {
      return 'an invisible letter is shown'
    }
    const differences = matrixDifferences(matrixOf(LOCK), matrix, NOWHERE)
    const routes = matrix.applications.flatMap((one) => one.routes)
    const same = routes.filter(({ url, method }) => url === '/orders' && method === 'GET')
    const isOpen =
      same.length === 1 && same[0]?.noauth === true && same[0].constraints === undefined
    if (
      isOpen &&
      matrix.applications.length === 1 &&
      !differences.some(({ effect }) => effect === 'opens')
    ) {
      return 'an open route is not named'
    }
    return null
  },
}

/** Everything that takes texts from outside. */
export const TARGETS: readonly Target[] = [
  tokenText,
  signedClaims,
  authorization,
  signedProof,
  proofHeader,
  keySet,
  lock,
]
