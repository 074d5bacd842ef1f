import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readActor } from '../../lib/tokens/actor.ts'
import { TokenRefused } from '../../lib/tokens/token-refused.ts'

const ACTORS: [act: string, actor: object | null][] = [
  ['{}', null],
  ['{"act":{"sub":"admin"}}', { sub: 'admin', issuer: null }],
  ['{"act":{"sub":"a","iss":"https://b.test"}}', { sub: 'a', issuer: 'https://b.test' }],
  ['{"act":{"sub":"last","act":{"sub":"first"}}}', { sub: 'last', issuer: null }],
  ['{"act":{"sub":"last","act":"any"}}', { sub: 'last', issuer: null }],
]

for (const [claims, actor] of ACTORS) {
  test(`the actor of ${claims} is ${JSON.stringify(actor)}`, () => {
    const read = readActor(JSON.parse(claims))
    assert.deepEqual(read, actor)
    assert.equal(Object.isFrozen(read), true)
  })
}

const MALFORMED = [
  'null',
  '"admin"',
  'true',
  '[]',
  '[{"sub":"admin"}]',
  '{}',
  '{"sub":""}',
  '{"sub":1}',
  '{"sub":null}',
  '{"__proto__":{"sub":"admin"}}',
  '{"iss":"https://b.test"}',
  '{"sub":"admin","iss":null}',
  '{"sub":"admin","iss":""}',
  '{"sub":"admin","iss":["https://b.test"]}',
]

for (const act of MALFORMED) {
  test(`a token with the actor ${act} is refused`, () => {
    assert.throws(
      () => readActor(JSON.parse(`{"act":${act}}`)),
      (error) => error instanceof TokenRefused && error.reason === 'act is malformed',
    )
  })
}

test('an actor is not inherited', () => {
  assert.equal(readActor(Object.create({ act: { sub: 'admin' } })), null)
})
