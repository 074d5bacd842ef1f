import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isProtected } from '../../lib/outside/protected-address.ts'

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
  test(`what comes from ${address} cannot be replaced on the way`, () => {
    assert.equal(isProtected(address), true)
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
]

for (const [what, address] of OPEN) {
  test(`an address with ${what} is not protected`, () => {
    assert.equal(isProtected(address), false)
  })
}
