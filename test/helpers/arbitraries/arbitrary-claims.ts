import fc from 'fast-check'
import { anyCharacter } from './any-character.ts'

/** Names that a careless look-up finds on every object. */
export const INHERITED = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']

/** Any text: plain, of all Unicode, or one with a special meaning somewhere. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string(),
  fc.string({ unit: anyCharacter }),
  fc.constantFrom(
    ...INHERITED,
    '',
    '*',
    ' ',
    '.',
    '..',
    'acme',
    'ACME',
    'acme ',
    'a\u0000',
    '\ufeff',
  ),
)

/** The text of any JSON value, with numbers beyond all bounds. */
export const anyJson: fc.Arbitrary<string> = fc.oneof(
  fc.json(),
  fc.constantFrom(
    '1e999',
    '-1e999',
    '1e-999',
    '-0',
    '0',
    '-1',
    '1e15',
    '1.5',
    '""',
    'null',
    '[]',
    '{}',
  ),
  anyText.map((text) => JSON.stringify(text)),
  fc.array(anyText).map((list) => JSON.stringify(list)),
)

/** The text of a JSON object. Its members may have any name, unlike those of an object literal. */
export function objectText(members: readonly (readonly [name: string, json: string])[]): string {
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
}

/** Any object of tenants with resource ids, as JSON text. */
export const anyResources: fc.Arbitrary<string> = fc
  .array(
    fc.tuple(anyText, fc.array(fc.constantFrom('menu:read', 'note:write', 'x'), { maxLength: 3 })),
    {
      maxLength: 5,
    },
  )
  .map((tenants) => objectText(tenants.map(([name, ids]) => [name, JSON.stringify(ids)])))
