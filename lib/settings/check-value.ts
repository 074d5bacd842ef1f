import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { KeySet } from '../keys/key-set.ts'
import { ownProperty } from '../outside/own-property.ts'
import { Unusable } from '../outside/unusable.ts'
import { copyOfKeys } from './copy-of-keys.ts'
import { UnreadableValue } from './ini-line.ts'
import { nearestName } from './look-alike.ts'
import { isPlainData } from './own-members.ts'
import type { Problems, Source } from './problems.ts'
import { showName, showReason, showValue } from './shown-value.ts'

/** A value that somebody gave an option, or a member of one. */
export interface Given<Name extends string> {
  readonly name: Name
  readonly value: unknown
  /** The value as it was written. */
  readonly written: unknown
  readonly source: Source
}

/** Whether a value is what its schema says. What is wrong is told. */
export function checkValue(
  schema: TSchema,
  { name, value, written, source }: Given<string>,
  problems: Problems,
): boolean {
  if (value instanceof UnreadableValue) {
    problems.add(source, value.expected, value.found)
    return false
  }
  const expected = String(ownProperty(schema, 'expected'))
  const reason = name === 'publicKeys' ? reasonAgainstKeys(value) : null
  if (reason !== null) {
    problems.add(source, expected, `${showValue(written)}: ${showReason(reason)}`)
    return false
  }
  // A copy has no holes, which `every` passes over.
  if (Value.Check(schema, Array.isArray(value) ? [...value] : value)) return true
  refuse(source, expected, written, problems)
  return false
}

export function refuse(source: Source, expected: string, value: unknown, problems: Problems): void {
  const hint = lacksValue(value) ? 'is an environment variable missing?' : undefined
  problems.add(source, expected, showValue(value), hint)
}

/** @param name what was written in the place of one of the known names */
export function refuseUnknown(
  name: string,
  known: readonly string[],
  { source, value }: { readonly source: Source; readonly value: unknown },
  problems: Problems,
): void {
  const nearest = nearestName(name, known)
  // What other software calls so may be a secret: its value is not shown.
  const found = nearest === undefined ? `"${showName(name)}"` : showValue(value)
  problems.addUnknown(source, known, nearest, found)
}

/** Why a key set cannot be used. Null where it can, or is no object, which says enough. */
function reasonAgainstKeys(keys: unknown): string | null {
  if (typeof keys !== 'object' || keys === null) return null
  try {
    const copy = copyOfKeys(keys)
    if (!isPlainData(keys)) return 'it is made of other than plain objects and lists'
    new KeySet(copy)
    return null
  } catch (error) {
    return error instanceof Unusable ? error.message : 'it cannot be read'
  }
}

/** `process.env.NOPE`, alone or in a list. */
function lacksValue(value: unknown): boolean {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  return values.includes(undefined)
}
