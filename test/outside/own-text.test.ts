import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownText } from '../../lib/outside/own-text.ts'

test('a copy has every letter of the text', () => {
  for (const text of [
    '',
    'a',
    'header.payload.signature',
    'ü',
    '狸',
    '🦝',
    '\ud800',
    'a\0b\udfff',
    'a'.repeat(20_000),
    '狸'.repeat(20_000),
  ]) {
    assert.equal(ownText(text), text)
  }
})
