import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLoopback, isSecureUrl, redactUrl } from '../../../lib/platform/http/urls.ts'

test('loopback is what stays on this machine', () => {
  for (const host of [
    'localhost',
    '127.0.0.1',
    '::ffff:127.0.0.1',
    '127.255.0.9',
    '::1',
    '[::1]',
  ]) {
    assert.equal(isLoopback(host), true, host)
  }
  const others = ['0.0.0.0', '::', '10.0.0.1', '10.127.0.1', '128.0.0.1', '127.', '::1:1', '']
  const names = ['a.test', '127.a.test', '127.0.0.1.a.test', 'localhost.a.test', 'a.localhost']
  for (const host of [...others, ...names]) {
    assert.equal(isLoopback(host), false, host)
  }
})

const PROTECTED = [
  'https://login.test',
  'HTTPS://LOGIN.test/',
  'https://login.test:8443/realms/a?b=c#d',
  'https://login.test?a',
  'https://login.test#a',
  'https://login.test/a@b',
  'https://[2606:4700::1111]/',
  'http://localhost',
  'http://127.0.0.1:8080/keys',
  'http://[::1]/keys',
]

for (const address of PROTECTED) {
  test(`an answer from ${address} cannot be replaced on the way`, () => {
    assert.equal(isSecureUrl(address), true)
  })
}

const OPEN: [what: string, address: string][] = [
  ['plain http beyond loopback', 'http://login.test/'],
  ['plain http to what only begins as loopback does', 'http://localhost.login.test/'],
  ['another scheme', 'ftp://localhost/'],
  ['a scheme with text before it', 'xhttps://login.test/'],
  ['white space before it', ' https://login.test/'],
  ['white space behind it', 'https://login.test/ '],
  ['white space behind the host', 'https://login.test '],
  ['white space in the path', 'https://login.test/a b'],
  ['a tab in the host', 'https://login\t.test/'],
  ['a line feed at its end', 'https://login.test/\n'],
  ['a name', 'https://user@login.test/'],
  ['a name and a password', 'https://user:secret@login.test/'],
  ['backslashes', 'https:\\\\login.test\\'],
  ['a backslash behind the host', 'https://login.test\\@other.test/'],
  ['a backslash in the path', 'https://login.test/a\\b'],
  ['one slash', 'https:/login.test/'],
  ['three slashes', 'https:///login.test/'],
  ['no host', 'https://'],
  ['no host, but a query', 'https://?a'],
  ['a host that cannot be', 'https://a<b/'],
  ['a port that cannot be', 'https://login.test:99999/'],
  ['nothing', ''],
  ['no address', 'login.test'],
  ['a name that is none', 'urn:example:issuer'],
  ['no scheme', '//login.test'],
  ['no slash', 'https:login.test'],
  ['a password alone', 'https://:secret@login.test'],
  ['an empty name', 'https://@login.test'],
  ['a host that breaks off', 'https://[::1'],
  ['plain http to the whole machine', 'http://0.0.0.0'],
  ['plain http to the whole machine in IPv6', 'http://[::]'],
  ['plain http to a private address', 'http://10.0.0.1'],
]

for (const [what, address] of OPEN) {
  test(`an address with ${what} is not protected`, () => {
    assert.equal(isSecureUrl(address), false)
  })
}

const shown: [address: unknown, shown: string | null][] = [
  ['https://login.test/keys', 'https://login.test/keys'],
  ['HTTP://LOGIN.test:8080/', 'http://login.test:8080/'],
  ['https://login.test/keys?key=secret#secret', 'https://login.test/keys'],
  ['https://login.test/\u0000\n\u0085\u202e<', 'https://login.test/%00%C2%85%E2%80%AE%3C'],
  [`https://login.test/${'a'.repeat(500)}`, `https://login.test/${'a'.repeat(81)}`],
  ['https://user@login.test/', null],
  ['https://:secret@login.test/', null],
  ['javascript:alert(1)', null],
  ['file:///etc/passwd', null],
  ['xhttps://login.test/', null],
  ['no address', null],
  ['', null],
  [undefined, null],
  [{ href: 'https://login.test/' }, null],
  [['https://login.test/'], null],
]

for (const [address, expected] of shown) {
  test(`${JSON.stringify(address)?.slice(0, 60)} is logged as ${expected}`, () => {
    assert.equal(redactUrl(address), expected)
  })
}
