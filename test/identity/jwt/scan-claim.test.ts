import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { scanClaim } from '../../../lib/identity/jwt/scan-claim.ts'
import { holds } from '../../helpers/arbitraries/property.ts'

const find = (json: string) => scanClaim(Buffer.from(json), 'iss')

const FOUND: [what: string, json: string][] = [
  ['the only member', '{"iss":"a"}'],
  ['the last member', '{"sub":"b","iss":"a"}'],
  ['white space around it', '{\n "iss"\t:\r "a" }'],
  ['each kind of white space beside its colon', '{"iss" \n\r\t: \n\r\t"a"}'],
  ['a nested one before it', '{"act":{"iss":"b"},"list":[{"iss":"c"}],"iss":"a"}'],
  ['a value of its name before it', '{"sub":"iss","iss":"a"}'],
  ['brackets in strings', '{"x":"}]{[\\"","iss":"a"}'],
  ['a backslash at the end of a string', '{"x":"\\\\","iss":"a"}'],
  ['an escaped value', '{"iss":"\\u0061"}'],
  ['text that breaks off behind it', '{"iss":"a"'],
  ['in a second object', '{"sub":"b"}{"iss":"a"}'],
  ['letters in the place of brackets', '{z|Z"iss":"a"}'],
]

for (const [what, json] of FOUND) {
  test(`a member is found: ${what}`, () => assert.equal(find(json), 'a'))
}

const NOT_FOUND: [what: string, json: string][] = [
  ['no text at all', ''],
  ['no object', '"iss"'],
  ['a list', '["iss","a"]'],
  ['a list that ends with it', '["iss"'],
  ['no such member', '{"sub":"a"}'],
  ['a longer name', '{"iss2":"a"}'],
  ['a nested one alone', '{"act":{"iss":"a"}}'],
  ['a number', '{"iss":1}'],
  ['an object', '{"iss":{"iss":"a"}}'],
  ['null', '{"iss":null}'],
  ['a number at which the text breaks off', '{"iss":1'],
  ['a string that breaks off', '{"iss":"a'],
  ['a string that breaks off after a backslash', '{"iss":"a\\'],
  ['a string that is none', '{"iss":"\\x"}'],
  ['a name without a value', '{"iss"'],
  ['a value in the place of a name', '{"sub":"iss"}'],
]

for (const [what, json] of NOT_FOUND) {
  test(`no member is found: ${what}`, () => assert.equal(find(json), undefined))
}

test('what is found is what parsing gives', async (t) => {
  const others = fc.dictionary(fc.string(), fc.jsonValue())
  await holds(
    t,
    fc.asyncProperty(
      others,
      fc.string(),
      others,
      fc.constantFrom(0, 2),
      async (before, iss, after, space) => {
        const { iss: _one, ...rest } = before
        const { iss: _two, ...more } = after
        const json = JSON.stringify({ ...rest, iss, more }, null, space)
        assert.equal(find(json), iss)
      },
    ),
  )
})
