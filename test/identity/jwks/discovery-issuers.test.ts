import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDiscoverable } from '../../../lib/identity/jwks/discovery.ts'

describe('an issuer can be discovered', () => {
  for (const issuer of [
    'https://a.test',
    'https://a.test/',
    'HTTPS://A.TEST:444/realms/staff@home',
    'https://[2001:db8::1]/x',
    'https://10.0.0.1',
    'http://localhost:8081',
    'http://LOCALHOST/x',
    'http://127.0.0.1',
    'http://127.9.8.7:1/',
    'http://[::1]:8081/realms/a',
  ]) {
    test(issuer, () => assert.equal(isDiscoverable(issuer), true))
  }
})

describe('an issuer cannot be discovered', () => {
  for (const issuer of [
    '',
    'a',
    'accounts.test',
    'urn:a:b',
    'https:',
    'https://',
    'https:a.test',
    'https:/a.test',
    'https:\\\\a.test',
    'https://a.test\\x',
    'https://[::1',
    'https://a.test:99999',
    'ftp://localhost',
    'http://a.test',
    'http://127.0.0.1.a.test',
    'http://localhost.a.test',
    'http://0.0.0.0',
    'http://[::]',
    'https://u:p@a.test',
    'https://u@a.test',
    'https://@a.test',
    'https://a.test?x=1',
    'https://a.test?',
    'https://a.test/x?',
    'https://a.test#x',
    'https://a.test/#',
    ' https://a.test',
    'https://a.test ',
    'https://a.test\n',
    'https://a\n.test',
    'https://a.test/a b',
  ]) {
    test(JSON.stringify(issuer), () => assert.equal(isDiscoverable(issuer), false))
  }
})
