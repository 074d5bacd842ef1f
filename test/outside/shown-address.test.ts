import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownAddress } from '../../lib/outside/protected-address.ts'

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
  test(`of ${JSON.stringify(address)?.slice(0, 60)} the log shows: ${expected}`, () => {
    assert.equal(shownAddress(address), expected)
  })
}
