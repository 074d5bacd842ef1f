import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { createServer as createTcp } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { COMMANDS, runCommandLine } from '../../lib/entrypoints/cli/main.ts'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { runs } from '../helpers/processes/program.ts'
import { recordedShell } from '../helpers/processes/recorded-shell.ts'
import { portOf } from '../helpers/servers/asked-server.ts'
import { hangingFaults, keyFaults } from '../helpers/servers/key-faults.ts'
import { type Paths, servePaths } from '../helpers/servers/path-server.ts'
import { selfSigned } from '../helpers/servers/self-signed.ts'
import { imported } from '../helpers/tokens/forge.ts'

const folder = tempFolder()

const authority = await createTestAuthority()
const keys = authority.publicKeys.keys.map((key) => ({ ...key, kid: 'main' }))
const { kid: _, ...nameless } = authority.publicKeys.keys[0] ?? {}
const other = imported(generateKeyPairSync('ec', { namedCurve: 'P-256' })).publicKey.export({
  format: 'jwk',
})
const rsaJwk = (modulusLength: number) =>
  imported(generateKeyPairSync('rsa', { modulusLength })).publicKey.export({ format: 'jwk' })

/** Runs the doctor on an INI file of this text. */
function examined(text: string, ...args: string[]) {
  return doctor(folder.write(text), ...args)
}

async function doctor(...args: string[]) {
  const shell = recordedShell()
  const code = await runCommandLine(['doctor', ...args], COMMANDS, shell)
  return { code, lines: shell.printed.out.trimEnd().split('\n'), ...shell.printed }
}

/** A server that is as it should be, but for what a row says. */
function healthy(origin: string, odd: Paths = {}): Paths {
  const issuer = origin
  return {
    '/.well-known/openid-configuration': { issuer, jwks_uri: `${origin}/keys` },
    '/keys': { keys },
    '/tenants': ['acme'],
    ...odd,
  }
}

const discovered = (issuer: string) => `[auth]\nissuer = ${issuer}\naudience = api\n`
const atUrl = (url: string) => `[auth]\npublic_keys_url = ${url}\nissuer = urn:a\naudience = api\n`
const fault = (name: keyof typeof keyFaults) => (origin: string) => ({
  '/keys': (response: ServerResponse) =>
    keyFaults[name]({ response, good: '{"keys":[]}', target: `${origin}/elsewhere` }),
})
const metadata = (odd: object) => (origin: string) => ({
  '/.well-known/openid-configuration': { issuer: origin, jwks_uri: `${origin}/keys`, ...odd },
})

const redirected = (to: (origin: string) => string) => (origin: string) => ({
  '/.well-known/openid-configuration': (response: ServerResponse) =>
    void response.writeHead(302, { location: to(origin) }).end(),
})

interface Row {
  readonly what: string
  /** What is not as it should be at the server. */
  readonly odd?: (origin: string) => Paths
  readonly ini?: (origin: string) => string
  /** The one line that is printed, with its cure. */
  readonly line: RegExp
}

const BROKEN: readonly Row[] = [
  {
    what: 'keys that are redirected',
    odd: fault('a redirect'),
    line: /^wrong {4}keys: http:\S+\/keys: answered with status 302, a redirect to http:\S+\/elsewhere; no redirect is followed: jwks_uri in .* must name the last address itself$/,
  },
  {
    what: 'keys that are not there',
    odd: fault('status 404'),
    ini: (origin) => atUrl(`${origin}/keys`),
    line: /^wrong {4}keys: .*status 404; nothing is there: correct the path in public_keys_url$/,
  },
  {
    what: 'keys behind a login',
    odd: () => ({ '/keys': (response) => void response.writeHead(401).end() }),
    line: /^wrong {4}keys: .*status 401; it must answer without credentials/,
  },
  {
    what: 'a server that fails',
    odd: fault('status 503'),
    line: /^wrong {4}keys: .*status 503; the server fails: look into its log/,
  },
  {
    what: 'an answer without a document',
    odd: fault('no content'),
    line: /^wrong {4}keys: .*status 204; only an answer of status 200 counts$/,
  },
  {
    what: 'a page in place of keys',
    odd: fault('a page'),
    line: /^wrong {4}keys: .*the answer is not JSON; a page for people \(a login, or a proxy's\)/,
  },
  {
    what: 'text in place of keys',
    odd: fault('truncated text'),
    line: /^wrong {4}keys: .*the answer is not JSON; jwks_uri in .* must name the address of the doc/,
  },
  {
    what: 'an answer that breaks off',
    odd: fault('a truncated body'),
    line: /^wrong {4}keys: .*the answer broke off; the server or a proxy ends the connection early/,
  },
  {
    what: 'an answer without an end',
    odd: fault('a huge body'),
    line: /^wrong {4}keys: .*the answer is too large; .* must name a document of a sane size$/,
  },
  {
    what: 'a server that hangs',
    odd: () => ({
      '/keys': (response) => hangingFaults['no body']({ response, good: '', target: '' }),
    }),
    ini: (origin) => `${discovered(origin)}keys_timeout = 0.5\n`,
    line: /^wrong {4}keys: .*in time; the server is slow, or a firewall is silent; keys_timeout is the/,
  },
  {
    what: 'what speaks no HTTP',
    odd: fault('no HTTP'),
    line: /^wrong {4}keys: .*no answer \((?:HPE_\w+|HTTPParserError)\); what listens there speaks no HTTP: correct the port$/,
  },
  {
    what: 'a connection that is reset',
    odd: fault('a reset'),
    line: /^wrong {4}keys: .*no answer \(\w+\); look at the network between here and the server$/,
  },
  {
    what: 'https where http is spoken',
    ini: (origin) => atUrl(`${origin.replace('http:', 'https:')}/keys`),
    line: /^wrong {4}keys: .*no answer \((?:EPROTO|ERR_SSL_\w+)\); that port speaks no TLS: use http, or/,
  },
  {
    what: 'an empty key set',
    odd: fault('no keys'),
    line: /^wrong {4}keys at \S+: no usable key: 0 members; the server has no key yet: make it one/,
  },
  {
    what: 'a weak key alone',
    odd: () => ({ '/keys': { keys: [rsaJwk(1024)] } }),
    line: /^wrong {4}keys at .*1 member: 1 too weak; make a new key at the server: RSA with 2048 bits/,
  },
  {
    what: 'a weak key beside a good one',
    odd: () => ({ '/keys': { keys: [...keys, rsaJwk(1024)] } }),
    line: /^warning {2}keys at .*: a key is passed over, since it is too weak; make a new key at the/,
  },
  {
    what: 'a weak key of a name',
    odd: () => ({ '/keys': { keys: [{ ...rsaJwk(1024), kid: 'old' }] } }),
    line: /^wrong {4}keys at .*1 member: 1 too weak \(too weak: "old"\); make a new key at the server/,
  },
  {
    what: 'a weak key of a name beside a good one',
    odd: () => ({ '/keys': { keys: [...keys, { ...rsaJwk(1024), kid: 'o\u202eld' }] } }),
    line: /^warning {2}keys at .*: the key "o\\u202eld" is passed over, since it is too weak; make a/,
  },
  {
    what: 'two keys of one kid',
    odd: () => ({ '/keys': { keys: [...keys, { ...other, kid: 'main' }] } }),
    line: /^wrong {4}keys at .*: "main" is the kid of several keys for ES256, so none of them fits; let each key of the server have a kid/,
  },
  {
    what: 'two keys without a kid',
    odd: () => ({ '/keys': { keys: [nameless, other] } }),
    line: /^warning {2}keys at .*: several keys for ES256 have no kid, so none of them fits; let each key of/,
  },
  {
    what: 'a secret that is published',
    odd: () => ({ '/keys': { keys: [{ kty: 'oct', k: 'AAAA' }] } }),
    line: /^wrong {4}keys at .*: 1 symmetric; let the server sign with an asymmetric key/,
  },
  {
    what: 'metadata in place of keys',
    ini: (origin) => atUrl(`${origin}/.well-known/openid-configuration`),
    line: /^wrong {4}keys at .*: this is a discovery document; its jwks_uri is http:\S+\/keys; write its issuer as issuer without public_keys_url, or that jwks_uri$/,
  },
  {
    what: 'a single key in place of a set',
    odd: () => ({ '/keys': { ...keys[0] } }),
    line: /^wrong {4}keys at .*: this is a single key.*; public_keys_url must be the jwks_uri of the/,
  },
  {
    what: 'a list in place of a set',
    odd: () => ({ '/keys': keys }),
    line: /^wrong {4}keys at .*: this is a list.*; public_keys_url must be the jwks_uri of the/,
  },
  {
    what: 'too many keys',
    odd: fault('101 keys'),
    line: /^wrong {4}keys at .*: the JWK set has too many members; let the server publish the keys that/,
  },
  {
    what: 'algorithms that fit no key',
    ini: (origin) => `${discovered(origin)}algorithms = RS256 PS256\n`,
    line: /^wrong {4}keys at .*: no key fits the allowed algorithms RS256, PS256; they are for ES256; name/,
  },
  {
    what: 'a clock ahead',
    odd: () => ({ '/keys': (response) => atTime(response, 600_000) }),
    line: /^wrong {4}the clock of 127\S+ is (?:599|600) seconds ahead of here; set both clocks by NTP/,
  },
  {
    what: 'a clock behind',
    odd: () => ({ '/keys': (response) => atTime(response, -590_000) }),
    line: /^warning {2}the clock of 127\S+ is (?:589|590) seconds behind here; set both clocks by NTP/,
  },
  {
    what: 'a clock ten minutes behind',
    odd: () => ({ '/keys': (response) => atTime(response, -601_000) }),
    line: /^wrong {4}the clock of 127\S+ is 60[01] seconds behind here; set both clocks by NTP/,
  },
  {
    what: 'keys of a test authority',
    odd: () => ({ '/keys': authority.publicKeys }),
    line: /^warning {2}the keys are those of a test authority \(npx fastify-tenant-auth authority\); name/,
  },
  {
    what: 'no discovery',
    odd: () => ({
      '/.well-known/openid-configuration': (response) => void response.writeHead(404).end(),
    }),
    line: /^wrong {4}discovery: .*status 404; nothing is there: correct the path in issuer; or give public_/,
  },
  {
    what: 'discovery that is redirected to its place at another address',
    odd: redirected((origin) => `${origin}/login/.well-known/openid-configuration`),
    line: /^wrong {4}discovery: .*a redirect to \S+\/login\/\.well-known\/openid-configuration; no redirect is followed: issuer must name the last address itself; or give public_keys_url$/,
  },
  {
    what: 'discovery that is redirected to the same path with a slash',
    odd: redirected((origin) => `${origin}/.well-known/openid-configuration/`),
    line: /^wrong {4}discovery: .*a redirect to \S+openid-configuration\/; no redirect is followed: issuer must be the one that the server names itself; or give public_keys_url$/,
  },
  {
    what: 'discovery that is redirected to a login',
    odd: redirected((origin) => `${origin}/login?next=/.well-known/openid-configuration`),
    line: /^wrong {4}discovery: .*a redirect to \S+\/login; no redirect is followed: issuer must be the one that/,
  },
  {
    what: 'discovery that is redirected nowhere',
    odd: redirected(() => '//['),
    line: /^wrong {4}discovery: .*status 302; no redirect is followed: issuer must be the one that/,
  },
  {
    what: 'an issuer with a slash too many',
    ini: (origin) => discovered(`${origin}/`),
    line: /^wrong {4}discovery: the server calls itself "http:\S+\d", and the configuration "http:\S+\/" \(they differ in a trailing slash\); write issuer = "http:\S+\d"$/,
  },
  {
    what: 'metadata of another server',
    odd: metadata({ issuer: 'https://other.test' }),
    line: /^wrong {4}discovery: the server calls itself "https:\/\/other.test", and the configuration "\S+"; wr/,
  },
  {
    what: 'an issuer that is spelt otherwise beside the address of the keys',
    ini: (origin) => `${discovered(`${origin}/`)}public_keys_url = ${origin}/keys\n`,
    line: /^warning {2}discovery: .* \(they differ in a trailing slash\); write issuer = \S+ if the tokens name/,
  },
  {
    what: 'metadata for many tenants',
    odd: metadata({ issuer: 'https://login.test/{tenantid}/v2.0' }),
    line: /^wrong {4}discovery: the server calls itself "https:\/\/login.test\/\{\*{3}", and the configuration "\S+"; that is a template for many tenants: issuer has to list that of each, as its tokens name it$/,
  },
  {
    what: 'metadata for many tenants beside the address of the keys',
    odd: metadata({ issuer: 'https://login.test/{tenantid}/v2.0' }),
    ini: (origin) => `${discovered(origin)}public_keys_url = ${origin}/keys\n`,
    line: /^warning {2}discovery: the server calls itself .*; that is a template for many tenants: issuer has to list that of each, as its tokens name it$/,
  },
  {
    what: 'metadata without keys',
    odd: metadata({ jwks_uri: undefined }),
    line: /^wrong {4}discovery: the discovery document has no jwks_uri; .*If it has none, give public_keys_/,
  },
  {
    what: 'metadata that are a list',
    odd: () => ({ '/.well-known/openid-configuration': ['x'] }),
    line: /^wrong {4}discovery: the discovery document is no object; is it metadata of an auth/,
  },
  {
    what: 'metadata that name keys by plain http',
    odd: metadata({ jwks_uri: 'http://keys.test/' }),
    line: /^wrong {4}discovery: the discovered jwks_uri is no https URL .*; let the server name an https/,
  },
  {
    what: 'tenants that are not there',
    ini: (origin) => `${discovered(origin)}[tenants]\ntenant_url = ${origin}/nothing\n`,
    line: /^wrong {4}tenants: http:\S+\/nothing: answered with status 404; .* correct the path in tenant_url$/,
  },
  {
    what: 'tenants that are no list of names',
    odd: () => ({ '/tenants': { acme: true } }),
    ini: (origin) => `${discovered(origin)}[tenants]\ntenant_url = ${origin}/tenants\n`,
    line: /^wrong {4}tenants: .*no JSON array of tenant names; tenant_url must name the address of the doc/,
  },
  {
    what: 'an empty list of tenants',
    odd: () => ({ '/tenants': [] }),
    ini: (origin) => `${discovered(origin)}[tenants]\ntenant_url = ${origin}/tenants\n`,
    line: /^warning {2}tenants at \S+: the list is empty; until it has names, every tenant is unknown$/,
  },
  {
    what: 'a misspelt key',
    ini: (origin) => discovered(origin).replace('audience', 'audiense'),
    line: /^wrong {4}audiense: expected audience, .*: did you mean audience\?; the application does/,
  },
  {
    what: 'dev mode left on',
    ini: (origin) => `${discovered(origin)}dev_mode = yes\n`,
    line: /^warning {2}dev mode: every request acts as the mock user dev,.*; take dev_mode away for production/,
  },
]

function atTime(response: ServerResponse, milliseconds: number): void {
  response.setHeader('date', new Date(Date.now() + milliseconds).toUTCString())
  response.end(JSON.stringify({ keys }))
}

/** Each line is one of ours, and no stack is among them. */
function assertOurs({ lines, err }: { readonly lines: readonly string[]; readonly err: string }) {
  const others = lines.filter((line) => !/^(?:ok {5}|warning|wrong {2}) {2}\S/.test(line))
  assert.deepEqual(others, [])
  assert.match(err, /^\S+: wrong \d+, warnings \d+\n$/)
}

for (const { what, odd, ini = discovered, line } of BROKEN) {
  test(`${what}: one line says so, and names the cure`, async (_t) => {
    const origin = await servePaths((own) => healthy(own, odd?.(own)))
    const found = await examined(ini(origin))
    assertOurs(found)
    const problems = found.lines.filter((each) => !each.startsWith('ok'))
    assert.equal(problems.length, 1, found.out)
    assert.match(problems[0] ?? '', line)
    assert.equal(found.code, problems[0]?.startsWith('wrong') ? 1 : 0)
  })
}

test('a server where nothing listens is named, and the cure', async () => {
  const server = createTcp()
  const port = await portOf(server)
  server.close()
  await once(server, 'close')
  const { out, code } = await examined(discovered(`http://127.0.0.1:${port}`))
  assert.match(
    out,
    /^wrong {4}discovery: .*no answer \(ECONNREFUSED\); nothing listens there: start/m,
  )
  assert.equal(code, 1)
})

test('a certificate that nobody vouches for is named', async (t) => {
  const server = createServer(selfSigned('localhost'), (_request, response) => response.end('{}'))
  const port = await portOf(server)
  t.after(() => void server.close())
  const { out, code } = await examined(atUrl(`https://localhost:${port}/keys`))
  assert.match(
    out,
    /no answer \(DEPTH_ZERO_SELF_SIGNED_CERT\); give the server a certificate of a kn/,
  )
  assert.equal(code, 1)
})

test('all problems of a file are listed at once, and nothing is asked', async () => {
  const found = await examined('[auth]\nissuer =\naudiense = x\nclock_tolerance = much\n')
  assertOurs(found)
  assert.equal(found.code, 1)
  assert.deepEqual(
    found.lines.map((line) => /^wrong {4}(\w+): expected/.exec(line)?.[1]),
    ['issuer', 'audiense', 'clock_tolerance'],
  )
})

test('a file that is missing is named', async () => {
  const shell = recordedShell()
  assert.equal(await runCommandLine(['doctor', '/nowhere/app.ini'], COMMANDS, shell), 1)
  assert.match(
    shell.printed.out,
    /^wrong {4}configFile: expected a readable INI file .*none at \/nowh/,
  )
  assert.equal(shell.printed.err, '/nowhere/app.ini: wrong 1, warnings 0\n')
})

test('a healthy configuration is ok in each line, and the exit code is 0', async (_t) => {
  const origin = await servePaths((own) =>
    healthy(own, metadata({ introspection_endpoint: `${own}/introspect` })(own)),
  )
  const ini = `${discovered(origin)}[tenants]\ntenant_url = ${origin}/tenants\n`
  const { code, lines, err } = await examined(ini)
  assert.deepEqual(
    lines.map((line) => line.slice(0, 9)),
    Array.from(lines, () => 'ok       '),
  )
  const port = new URL(origin).host
  assert.deepEqual(
    lines.slice(1).map((line) => line.slice(9)),
    [
      'discovery: the metadata are there',
      `introspection: offered at ${origin}/introspect; tokens that are no JWTs need the option opaqueToken in code`,
      `keys at ${origin}/keys: usable, for ES256`,
      `the clock of ${port} agrees with that of this machine`,
      `tenants at ${origin}/tenants: names of 1`,
    ],
  )
  assert.equal(code, 0)
  assert.match(err, /: wrong 0, warnings 0\n$/)
})

test('one key that is published twice is one key', async () => {
  const origin = await servePaths((own) => healthy(own, { '/keys': { keys: [...keys, ...keys] } }))
  const { code, out } = await examined(discovered(origin))
  assert.equal(code, 0, out)
  assert.doesNotMatch(out, /several keys/)
})

test('one key in two entries, and keys that share a name for no allowed algorithm, are no fault', async () => {
  const [key] = keys
  const rsa = () => ({ ...rsaJwk(2048), kid: 'rsa', alg: 'RS256' })
  const more = [{ ...key, alg: undefined }, rsa(), rsa()]
  const origin = await servePaths((own) => healthy(own, { '/keys': { keys: [...keys, ...more] } }))
  const { code, out } = await examined(`${discovered(origin)}algorithms = ES256\n`)
  assert.equal(code, 0, out)
  assert.doesNotMatch(out, /several keys/)
})

test('of options in code the cure has their names, and the clock that of its host', async () => {
  const origin = await servePaths((own) => healthy(own))
  const { out } = await doctor('--public-keys-url', `${origin}/keys`, '--audience', 'api')
  assert.match(out, new RegExp(`the clock of ${new URL(origin).host} agrees`))
  const gone = await doctor('--issuer', `${origin}/gone`, '--audience', 'api')
  assert.match(gone.out, /; or give publicKeysUrl$/m)
  assert.doesNotMatch(gone.out, /public_keys_url/)
})

test('members of a key that say nothing are no secret, and keep no key from use', async (_t) => {
  const empty = { key_ops: [], oth: [], x5c: [], d: null, use: null }
  const origin = await servePaths((own) =>
    healthy(own, { '/keys': { keys: keys.map((key) => ({ ...key, ...empty })) } }),
  )
  const { code, lines, out } = await examined(discovered(origin))
  assert.equal(code, 0, out)
  assert.ok(lines.includes(`ok       keys at ${origin}/keys: usable, for ES256`), out)
  assert.doesNotMatch(out, /secret|warning/)
})

const DPOP = { dpop_signing_alg_values_supported: ['ES256'] }
const MTLS = { tls_client_certificate_bound_access_tokens: true }

/** What the metadata say of bound tokens, what the file does with them, and the line. */
const BINDINGS: readonly [odd: object, ini: string, line: string | undefined][] = [
  [{}, '', undefined],
  [{ dpop_signing_alg_values_supported: [] }, '', undefined],
  [
    DPOP,
    '',
    'ok       bound tokens: offered, by DPoP; confirmation is refuse, and confirmation = check takes them with a proof',
  ],
  [
    { ...DPOP, ...MTLS },
    'confirmation = check\npublic_url = https://api.test\n',
    'ok       bound tokens: offered, by DPoP and client certificates',
  ],
  [
    {},
    'confirmation = require\npublic_url = https://api.test\n',
    'warning  bound tokens: the metadata offer none, and confirmation is require; let the server bind its tokens, or write confirmation = check',
  ],
]

for (const [odd, ini, line] of BINDINGS) {
  test(`whether a server binds its tokens, and by what: ${line}`, async (_t) => {
    const origin = await servePaths((own) => healthy(own, metadata(odd)(own)))
    const { code, lines } = await examined(`${discovered(origin)}${ini}`)
    assert.equal(code, 0)
    assert.deepEqual(
      lines.filter((each) => each.includes('bound tokens')),
      line === undefined ? [] : [line],
    )
  })
}

test('beside the address of the keys, metadata need not be there', async (_t) => {
  const origin = await servePaths(() => ({ '/keys': { keys } }))
  const { code, lines } = await examined(`${discovered(origin)}public_keys_url = ${origin}/keys\n`)
  assert.equal(code, 0)
  assert.equal(lines.length, 3)
})

test('without issuer and audience there are warnings, and the exit code is 0', async (_t) => {
  const origin = await servePaths(healthy)
  const found = await examined(`[auth]\npublic_keys_url = ${origin}/keys\n`)
  assertOurs(found)
  assert.equal(found.code, 0)
  assert.deepEqual(
    found.lines.flatMap(
      (line) => /^warning {2}(\w+) is not configured: .*; give \1/.exec(line)?.[1] ?? [],
    ),
    ['issuer', 'audience'],
  )
})

test('each issuer of several is examined', async (_t) => {
  const good = await servePaths(healthy)
  const bad = await servePaths(() => ({}))
  const section = (name: string, issuer: string) =>
    `[auth.${name}]\nissuer = ${issuer}\naudience = api\ntenants = ${name}\n`
  const { code, out } = await examined(section('a', good) + section('b', bad))
  assert.equal(code, 1)
  assert.match(out, new RegExp(`^ok .* keys at ${good}/keys: usable, for ES256$`, 'm'))
  assert.match(out, new RegExp(`^wrong .* discovery: ${bad}/: no discovery document`, 'm'))
})

test('a token is looked at, and neither it nor its claims are printed or sent', async (_t) => {
  const heard: string[] = []
  const origin = await servePaths((own) =>
    healthy(own, {
      '/keys': (response) => {
        heard.push(JSON.stringify([response.req.url, response.req.rawHeaders, response.req.method]))
        response.end(JSON.stringify(authority.publicKeys))
      },
    }),
  )
  const user = { sub: 'u-4711', email: 'dora@mail.test' }
  const good = await authority.token(user, { issuer: origin })
  const accepted = await examined(discovered(origin), '--token', `Bearer ${good}`)
  assert.match(accepted.out, /^ok {7}token: it is accepted$/m)
  const bad = await authority.token(user, { issuer: `${origin}/`, audience: 'web' })
  const refused = await examined(discovered(origin), '--token', bad, '--json')
  assert.equal(refused.code, 1)
  const { findings }: { findings: { level: string; what: string; cure: string }[] } = JSON.parse(
    refused.out,
  )
  const wrong = findings.filter(({ level }) => level === 'wrong')
  assert.equal(wrong.length, 2)
  assert.match(wrong[0]?.what ?? '', /^token: the issuer .*\(it differs in a trailing slash\)/)
  assert.match(wrong[1]?.cure ?? '', /^ask the server for a token for this API/)
  assert.equal(heard.length, 2)
  const all = [accepted.out, accepted.err, refused.out, refused.err, ...heard].join('\n')
  assert.doesNotMatch(all, /eyJ|4711|mail\.test|bearer [^t]/i)
})

test('a server that only the token names is never asked', async (t) => {
  const asked: unknown[] = []
  const other = createTcp((socket) => {
    asked.push(socket.remotePort)
    socket.destroy()
  })
  t.after(() => other.close())
  const issuer = `http://127.0.0.1:${await portOf(other)}`
  const origin = await servePaths((own) => healthy(own))
  const { code, out } = await examined(
    discovered(origin),
    '--token',
    await authority.token({ sub: 'dora' }, { issuer }),
  )
  assert.equal(code, 1)
  assert.match(out, /^wrong {4}token: the issuer /m)
  assert.deepEqual(asked, [])
})

test('in dev mode no token is read', async () => {
  const { code, out } = await examined('[auth]\ndev_mode = yes\n', '--token', 'x')
  assert.equal(code, 0)
  assert.match(out, /^warning {2}token: dev mode reads none; take dev_mode away to look at it$/m)
})

test('what a server says cannot move the cursor of a terminal', async (_t) => {
  const origin = await servePaths((own) =>
    healthy(own, metadata({ issuer: 'https://a.test/\u001b[2J\u009b2J\u202e' })(own)),
  )
  const { out } = await examined(discovered(origin))
  assert.match(out, /calls itself "https:\/\/a\.test\/\\u001b\[2J\\u009b2J\\u202e"/)
})

test('a token comes from the standard input, and the marks have colours on a terminal', async (_t) => {
  const origin = await servePaths((own) => healthy(own, { '/keys': authority.publicKeys }))
  const file = folder.write(discovered(origin))
  const token = await authority.token({}, { issuer: origin, expiresIn: -60 })
  const child = spawn(
    process.execPath,
    [...runs('lib/entrypoints/cli/index.ts'), 'doctor', file, '--token', '-'],
    {
      env: { ...process.env, FORCE_COLOR: '1' },
    },
  )
  child.stdin.end(`${token}\n`)
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  for (const mark of ['\u001b[32mok     ', '\u001b[33mwarning', '\u001b[31mwrong  ']) {
    assert.ok(out.includes(`${mark}\u001b[39m  `), out)
  }
  assert.match(out, /token: expired; get a new one/)
  assert.equal(code, 1)
})

test('what the code has is examined as an INI file is', async () => {
  const origin = await servePaths((own) => healthy(own))
  const inCode = ['--issuer', origin, '--audience', 'api']
  const { code, lines, err } = await doctor(...inCode)
  const [first, ...others] = lines
  assert.equal(first, 'ok       the options can be used')
  assert.deepEqual(others, (await examined(discovered(origin))).lines.slice(1))
  assert.equal(code, 0)
  assert.equal(err, 'the options: wrong 0, warnings 0\n')
  const header = { kid: 'main' }
  const token = await authority.token({}, { issuer: origin, audience: 'other', header })
  assert.match((await doctor(...inCode, '--token', token)).out, /^wrong .*the audience is not/m)
  const moved = await doctor('--public-keys-url', `${origin}/moved`, '--issuer', 'urn:a')
  assert.match(moved.out, /^wrong {4}keys: .*status 404/m)
  assert.match((await doctor('--issuer', 'login')).out, /^wrong {4}.*issuer/m)
})
