import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isWithinEdits, meantBy, nearestName, SECRET_CURE } from '../../lib/config/did-you-mean.ts'

describe('so many edits turn one name into the other, or they do not', () => {
  for (const [edits, name, isWithin] of [
    [0, 'name', true],
    [0, 'nam', false],
    [1, 'nam', true],
    [1, 'names', true],
    [1, 'nime', true],
    [1, 'nmae', true],
    [1, 'nmax', false],
    [1, 'nimes', false],
    [1, 'na', false],
    [2, 'nmax', true],
    [2, 'nimes', true],
    [2, 'na', true],
  ] as const) {
    test(`${edits}: ${name}`, () => {
      assert.equal(isWithinEdits(edits, name, 'name'), isWithin)
      assert.equal(isWithinEdits(edits, 'name', name), isWithin)
    })
  }
})

describe('the name that was meant', () => {
  for (const [name, known, meant] of [
    ['Public_Keys-URL', ['issuer', 'publicKeysUrl'], 'publicKeysUrl'],
    ['publicKeysÚrl', ['issuer', 'publicKeysUrl'], 'publicKeysUrl'],
    ['“issuer”', ['publicKeysUrl', 'issuer'], 'issuer'],
    // A third of the letters may differ, and no more.
    ['isxxer', ['audience', 'issuer'], 'issuer'],
    ['xsxxer', ['audience', 'issuer'], undefined],
    ['nxx', ['name'], undefined],
    // The nearer one counts, wherever it stands.
    ['issuers', ['issuer', 'issuers'], 'issuers'],
    // Cut short.
    ['clo', ['issuer', 'clockTolerance'], 'clockTolerance'],
    ['cl', ['issuer', 'clockTolerance'], undefined],
    ['publ', ['publicKeysUrl', 'publicKeys'], 'publicKeys'],
    ['publ', ['publicKeys', 'publicKeysUrl'], 'publicKeys'],
    ['keysM', ['keysMaxAge', 'keysMaxStale'], undefined],
    ['keysM', ['keysMaxAge', 'keysMaxAgeOfAll', 'keysMaxStale'], undefined],
    ['whatever', ['issuer', 'clockTolerance'], undefined],
    // As other software calls it.
    ['jwksUri', ['issuer', 'publicKeysUrl'], 'publicKeysUrl'],
    ['jwks_url', ['issuer', 'publicKeysUrl'], 'publicKeysUrl'],
    ['issuerUrl', ['audience', 'issuer'], 'issuer'],
    ['domain', ['audience', 'issuer'], 'issuer'],
    ['secret', ['audience', 'opaqueToken'], 'opaqueToken'],
    ['secret', ['audience', 'issuer'], undefined],
  ] as const) {
    test(`${name} of ${known.join(', ')}: ${meant ?? 'none'}`, () => {
      assert.equal(nearestName(name, known), meant)
    })
  }
})

test('a secret has a cure of its own where tokens of a secret may be configured', () => {
  assert.equal(meantBy('secret', 'opaqueToken'), SECRET_CURE)
  assert.equal(meantBy('Secret', 'opaqueToken'), SECRET_CURE)
  assert.equal(meantBy('secret', 'section'), 'did you mean section?')
  assert.equal(meantBy('opaqueTokn', 'opaqueToken'), 'did you mean opaqueToken?')
})
