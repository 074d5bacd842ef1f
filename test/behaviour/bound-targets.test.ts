import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressedApp, PREFIX, sendTarget } from '../helpers/app/bound-app.ts'
import { HOLDER, proofOf } from '../helpers/tokens/bound.ts'

/** Targets as clients send them, and the addresses of the proofs with which they are let in. */
const TARGETS: readonly [target: string, good: readonly string[]][] = [
  ['/a', [`${PREFIX}/a`]],
  ['/a#b', [`${PREFIX}/a`]],
  ['/a/./b', []],
  ['/a/../b', []],
  ['/../b', []],
  ['/..', []],
  ['/.', []],
  ['/a/..', []],
  ['/a/%2e%2e/b', []],
  ['/a/%2E%2e/b', []],
  ['/a/.%2e/b', []],
  ['/a/%2e/b', []],
  ['/a/%2E', []],
  ['/..;/b', [`${PREFIX}/..;/b`]],
  ['/a/...', [`${PREFIX}/a/...`]],
  ['/a%2f..%2fb', [`${PREFIX}/a%2F..%2Fb`]],
  ['/a\\b', []],
  ['/a"b', []],
  ['/a{b}', []],
  ['/\xe9', []],
  ['//evil.test/a', [`${PREFIX}//evil.test/a`]],
  ['//a//b', [`${PREFIX}//a//b`]],
  ['http://api.test/a', [`${PREFIX}/a`]],
  ['https://evil.test/a', [`${PREFIX}/a`]],
  ['http://evil.test:99/a?b', [`${PREFIX}/a`]],
  ['http://user@evil.test/a', [`${PREFIX}/a`]],
  // Routers before find-my-way 9.10 take this for a path.
  ['HTTP://api.test/a', []],
  ['http://evil.test//a', [`${PREFIX}//a`]],
  ['http://evil.test/a/../b', []],
  ['http://evil.test/%2e%2e/b', []],
]

/** Every address that somebody could think is meant by one of the targets. */
const THOUGHT = [
  ...new Set(TARGETS.flatMap(([, good]) => good)),
  ...['', '/', '/b', '/a/b', '/a/', '/svc2/a', '/evil.test/a', '/a%5Cb', '/a%22b', '/a%7Bb%7D'].map(
    (path) => PREFIX + path,
  ),
  `${PREFIX}undefined`,
  `${PREFIX}/%E9`,
  `${PREFIX}/%C3%A9`,
  'https://api.test/b',
  'https://api.test/',
  'https://api.test/a',
  'https://evil.test/a',
  'http://evil.test/a',
  'http://evil.test:99/a',
  'https://evil.test/svc2/a',
  'https://evil.test/b',
]

for (const [target, good] of TARGETS) {
  test(`the target ${target} is let in by ${good.join() || 'no proof'}`, async (t) => {
    const { app, token } = await addressedApp(t)
    await app.listen({ host: '127.0.0.1', port: 0 })
    const letIn: string[] = []
    for (const htu of [...THOUGHT, PREFIX + target, target]) {
      const proof = proofOf(HOLDER, { token, url: 'x:', claims: { htu } })
      const answer = await sendTarget(app, target, token, proof)
      assert.match(answer, /^HTTP\/1\.1 (?:200|400|401|404) /)
      if (answer.startsWith('HTTP/1.1 200')) letIn.push(htu)
    }
    // Spelt in another way, an address is the same.
    const spelt = (htu: string) =>
      new URL(htu).href.replaceAll('%2f', '%2F').split(/[?#]/, 1).join()
    assert.deepEqual([...new Set(letIn.map(spelt))], good.map(spelt))
  })
}

/** Targets whose path the router reads in another way than a URL parser. */
const ROUTED = [
  'http://evil.test?x=/x/secret',
  'http://evil.test#/x/secret',
  'http://evil.test\\/x/secret',
  'http://evil.test;/x/secret',
  'http:///x/secret',
  'http:/x/secret',
  'http:x/secret',
  'HTTP://evil.test/x/secret',
  'ftp://evil.test/x/secret',
  'evil.test/x/secret',
  'x/secret',
  '?/x/secret',
  '/?/x/secret',
  '/#/x/secret',
  '/a/..;/../x/secret',
  'http://[/x/secret',
  'http://a:b:c/x/secret',
  'http://%/x/secret',
  'https://evil.test/http://evil.test/x/secret',
  '*',
  '',
  '/%',
  '/%zz',
  '/%ff',
  '/%00',
  `/${'%41'.repeat(4000)}`,
]

for (const target of ROUTED) {
  test(`a proof of another address reaches nothing by the target ${target}`, async (t) => {
    const { app, token } = await addressedApp(t)
    await app.listen({ host: '127.0.0.1', port: 0 })
    for (const path of ['', '/', '/a', '/evil.test', '/x', '/?', '/*', '//']) {
      for (const base of [PREFIX, 'https://api.test', 'http://evil.test']) {
        const proof = proofOf(HOLDER, { token, url: base + path })
        const answer = await sendTarget(app, target, token, proof)
        const body = answer.split('\r\n\r\n')[1] ?? ''
        assert.ok(!answer.startsWith('HTTP/1.1 5'), answer)
        const isServed = answer.startsWith('HTTP/1.1 200')
        assert.ok(!isServed || !body.includes('secret'), `${base + path} reached ${body}`)
      }
    }
  })
}
