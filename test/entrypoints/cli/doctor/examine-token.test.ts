import assert from 'node:assert/strict'
import { maxHeaderSize } from 'node:http'
import { test } from 'node:test'
import Fastify from 'fastify'
import { loadSettings } from '../../../../lib/config/load-settings.ts'
import type { AuthOptions } from '../../../../lib/config/options.ts'
import {
  examineToken,
  type KnownIssuer,
  orRefusal,
} from '../../../../lib/entrypoints/cli/doctor/examine-token.ts'
import { createTestAuthority } from '../../../../lib/entrypoints/testing/index.ts'
import { NO_KEYS } from '../../../../lib/identity/jwks/jwk-set.ts'
import { tokenRefusal } from '../../../../lib/identity/jwt/token-refusal.ts'
import { tenantAuth } from '../../../../lib/index.ts'

const authority = await createTestAuthority({ issuer: 'https://login.test', audience: 'api' })
const other = await createTestAuthority({ issuer: 'https://other.test', audience: 'api' })
const kid = 'fastify-tenant-auth-test-1'
const sub = 'u-4711-secret'
const HS256 = Buffer.from('{"alg":"HS256"}').toString('base64url')

const user = { sub, email: 'secret@mail.test', resources: { acme: [] } }

/** The findings for a token under these options. */
function findingsOf(token: string, options: AuthOptions = authority.options): string[] {
  const { issuers, settings, addresses } = loadSettings(options)
  const listed = typeof issuers === 'function' ? [] : issuers
  const known = listed.map((entry): KnownIssuer => {
    return { entry, keys: entry.keySet ?? NO_KEYS }
  })
  const findings = examineToken(token, known, settings, addresses)
  const text = findings.map(({ level, what, cure }) => `${level} ${what}; ${cure}`)
  const part = new RegExp(`secret@|${token.slice(-20)}|eyJ`)
  assert.doesNotMatch(text.join('\n'), part, 'no part of the token is shown')
  return text
}

/** True if an application with these options answers 200. */
async function isAccepted(token: string, options: AuthOptions): Promise<boolean> {
  const app = Fastify()
  await app.register(tenantAuth, options)
  app.get('/:tenant/menu', { config: { tenant: 'required' } }, async () => 'soup')
  const headers = { authorization: `Bearer ${token}` }
  const { statusCode } = await app.inject({ url: '/acme/menu', headers })
  await app.close()
  return statusCode === 200
}

interface Row {
  readonly what: string
  readonly token: () => Promise<string> | string
  readonly options?: AuthOptions
  /** Those of all findings, or of the only one. */
  readonly lines: readonly RegExp[] | RegExp
}

const LIVES_ON = { ...authority.options, algorithms: ['RS256'], tokenTypes: ['at+jwt'] }
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

const { audience: _, ...anyAudience } = authority.options
const BY_TENANT = { ...anyAudience, resource: 'https://api.test/:tenant' }

const PROVING = { ...authority.options, publicUrl: 'https://api.test' }

const ROWS: readonly Row[] = [
  {
    what: 'the address of a tenant',
    token: () => authority.token(user, { audience: 'https://api.test/acme' }),
    options: BY_TENANT,
    lines: /^ok token: it is accepted/,
  },
  {
    what: 'no address of a tenant',
    token: () => authority.token(user),
    options: BY_TENANT,
    lines:
      /^wrong token: the audience .*: expected "https:\/\/api.test\/:tenant", found "api"; ask the server/,
  },
  {
    what: 'a good token',
    token: () => authority.token(user),
    lines: /^ok token: it is accepted/,
  },
  {
    what: 'an issuer with a slash too many',
    token: () => authority.token(user, { issuer: 'https://login.test/' }),
    lines:
      /^wrong token: the issuer is not accepted \(it differs in a trailing slash\): expected "https:\/\/login.test", found "https:\/\/login.test\/"; write issuer exactly/,
  },
  {
    what: 'no issuer',
    token: () => authority.token(user, { issuer: undefined }),
    lines:
      /^wrong token: the issuer is not accepted: expected "https:\/\/login.test", found nothing; /,
  },
  {
    what: 'another audience',
    token: () => authority.token(user, { audience: ['web', 'a\u001b[2J'] }),
    lines:
      /^wrong token: the audience .*: expected "api", found \["web", "a\\u001b\[2J"\]; ask the server/,
  },
  {
    what: 'an expired token for another audience: both',
    token: () => authority.token(user, { audience: 'web', expiresIn: -60 }),
    lines: [
      /^wrong token: the audience is not/,
      /^wrong token: expired; get a new one; if it is new/,
    ],
  },
  {
    what: 'a token of the future',
    token: () => authority.token(user, { issuedAt: 600, expiresIn: 900 }),
    lines: /^wrong token: issued in the future; compare the clocks/,
  },
  {
    what: 'a token that is not valid yet',
    token: () => authority.token(user, { notBefore: 600, expiresIn: 900 }),
    lines: /^wrong token: not valid yet; compare the clocks/,
  },
  {
    what: 'a token without an end',
    token: () => authority.token(user, { expiresIn: undefined }),
    lines: /^wrong token: exp is missing; let the server say when/,
  },
  {
    what: 'a time that is none',
    token: () => authority.token({ ...user, exp: 'soon' }),
    lines: /^wrong token: exp is not a time; let the server make its tokens otherwise/,
  },
  {
    what: 'another type and algorithm: both',
    token: () => authority.token(user, { header: { typ: 'id+jwt' } }),
    options: LIVES_ON,
    lines: [
      /^wrong token: the algorithm is not allowed: expected "RS256", found "ES256"; name it in alg/,
      /^wrong token: the token type is not allowed: expected "application\/at\+jwt", found "id\+jwt"; is/,
    ],
  },
  {
    what: 'one that is signed with a secret',
    token: async () => (await authority.token(user)).replace(/^[^.]*/, HS256),
    lines: [
      /^wrong token: signed with a secret, not with a key: sharedSecret .*; give it in code/,
      /the key is unknown/,
    ],
  },
  {
    what: 'no type where one is asked for',
    token: () => authority.token(user, { header: { typ: undefined } }),
    options: { ...authority.options, tokenTypes: ['at+jwt'] },
    lines: /^wrong token: the token type is not allowed: expected .*, found nothing/,
  },
  {
    what: 'a bound token',
    token: () => authority.token({ ...user, cnf: { jkt: 'x' } }),
    lines: /^wrong token: bound to its sender; ask for a bearer token/,
  },
  {
    what: 'a token that is not bound where one must be',
    token: () => authority.token(user),
    options: { ...PROVING, confirmation: 'require' },
    lines:
      /^wrong token: it is not bound to its sender; ask for a bound one, or confirmation = che/,
  },
  {
    what: 'an actor that is none',
    token: () => authority.token({ ...user, act: 'x' }),
    lines: /^wrong token: act is malformed; let the server/,
  },
  {
    what: 'claims of another shape',
    token: () => authority.token({ ...user, resources: Object(['x']) }),
    lines:
      /^warning token: sub, resources or preferred_username is malformed; give mapClaims in code/,
  },
  {
    what: 'an unknown key',
    token: () => authority.token(user, { header: { kid: 'old' } }),
    lines: new RegExp(
      `^wrong token: the key is unknown: expected "${kid}", found "old"; is it of this`,
    ),
  },
  {
    what: 'a key for another algorithm',
    token: () => `${encoded({ alg: 'RS256', kid })}.${encoded({})}.AAAA`,
    options: { publicKeys: authority.publicKeys },
    lines: [
      /^wrong token: exp is missing/,
      /^warning token: sub, res/,
      /^wrong token: no key fits; let each key/,
    ],
  },
  {
    what: 'the signature of another server',
    token: () => other.token(user, { issuer: 'https://login.test' }),
    lines: /^wrong token: the signature does not match; was it cut or changed\?/,
  },
  {
    what: 'a token of the one issuer of several that has it',
    token: () => other.token(user),
    options: {
      issuers: [authority.issuerRules({ tenants: '*' }), other.issuerRules({ tenants: ['acme'] })],
    },
    lines: /^ok token: it is accepted/,
  },
  {
    what: 'a token of an issuer that is none of several',
    token: () => other.token(user, { issuer: 'http://other.test' }),
    options: {
      issuers: [authority.issuerRules({ tenants: '*' }), other.issuerRules({ tenants: ['acme'] })],
    },
    lines:
      /^wrong token: the issuer is not accepted \(it differs in http and https\): expected "https:/,
  },
  {
    what: 'an API key',
    token: () => 'key_4711',
    lines:
      /^wrong token: it is no JWT, which an INI file cannot .*; give opaqueToken in code, such as intro/,
  },
  {
    what: 'a token with a line break in it',
    token: async () => (await authority.token(user)).replace(/.{9}$/, '\n$&'),
    lines: /^wrong token: a part is not base64url; give the whole token as it is/,
  },
  {
    what: 'a token that is too long for the option',
    token: () => authority.token({ ...user, text: 'x'.repeat(100) }),
    options: { ...authority.options, maxTokenLength: 200 },
    lines:
      /^wrong token: its \d+ characters are more than 200; raise max_token_length; and raise http/,
  },
]

for (const { what, token, options = authority.options, ...row } of ROWS) {
  const lines = [row.lines].flat()
  test(`${what}: ${lines.length} lines`, async () => {
    const given = await token()
    const found = findingsOf(given, options)
    assert.equal(found.length, lines.length, found.join('\n'))
    for (const [index, line] of lines.entries()) assert.match(found[index] ?? '', line)
    const isFine = found.every((line) => line.startsWith('ok'))
    assert.equal(await isAccepted(given, options), isFine, 'an application says the same')
  })
}

test('a bound token is accepted together with what proves it', async () => {
  const thumbprint = 'x'.repeat(42).concat('A')
  for (const [cnf, ways] of [
    [{ jkt: thumbprint }, 'a DPoP proof'],
    [{ 'x5t#S256': thumbprint }, 'its client certificate'],
    [{ jkt: thumbprint, 'x5t#S256': thumbprint }, 'a DPoP proof and its client certificate'],
  ] as const) {
    const found = findingsOf(await authority.token({ ...user, cnf }), {
      ...PROVING,
      confirmation: 'check',
    })
    assert.deepEqual(found, [`ok token: it is accepted together with ${ways}; undefined`])
  }
})

test('a good token without rights is accepted, with a warning and the cures', async () => {
  assert.deepEqual(findingsOf(await authority.token({ sub: 'dora' })), [
    'ok token: it is accepted; undefined',
    'warning token: it has no claim resources, and so no tenant and no right; give mapClaims in code, if it is not there: a recipe of fastify-tenant-auth/claims may fit; or resourcesOf has the rights',
  ])
  const expired = await authority.token({ sub: 'dora' }, { expiresIn: -60 })
  assert.match(findingsOf(expired).join('\n'), /^wrong token: expired.*$/)
})

test('a token near the limit of Node is a warning, and beyond it wrong', async () => {
  const near = await authority.token({ ...user, text: 'x'.repeat((maxHeaderSize * 5) / 8) })
  const size = near.length + 'authorization: Bearer \r\n'.length
  assert.deepEqual(findingsOf(near), [
    `warning token: its header takes ${size} of the ${maxHeaderSize} bytes that Node reads; raise http.maxHeaderSize of Fastify and of the gateways, or take rights from a database by resourcesOf`,
    'ok token: it is accepted; undefined',
  ])
  const beyond = await authority.token({ ...user, text: 'x'.repeat(maxHeaderSize) })
  const [long = '', ours = ''] = findingsOf(beyond)
  assert.match(
    long,
    /^wrong token: its \d+ characters are more than 16384; raise max_token_length; and/,
  )
  assert.match(
    ours,
    /^wrong token: its header takes \d+ of the \d+ bytes that Node reads; raise http/,
  )
})

test('without keys the signature is not judged, and all else is', async () => {
  const { issuers, settings } = loadSettings(authority.options)
  const [entry] = typeof issuers === 'function' ? [] : issuers
  assert.ok(entry, 'there is an issuer')
  const token = await authority.token(user, { expiresIn: -60 })
  const findings = examineToken(token, [{ entry }], settings)
  const seen = findings.map(({ level, what }) => `${level} ${what}`)
  assert.deepEqual(seen, ['wrong token: expired', 'warning token: its signature cannot be checked'])
})

test('a refusal is given, and a defect is thrown', () => {
  const refusal = tokenRefusal('expired')
  const seen = orRefusal(() => 1)
  assert.equal(seen, 1)
  assert.equal(
    orRefusal(() => {
      throw refusal
    }),
    refusal,
  )
  const defect = () =>
    orRefusal(() => {
      throw new TypeError('a defect')
    })
  assert.throws(defect, { message: 'a defect' })
})
