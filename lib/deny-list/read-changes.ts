import { isObject } from '../outside/is-object.ts'
import { ownProperty } from '../outside/own-property.ts'
import { Unusable } from '../outside/unusable.ts'
import { type Denial, readDenial } from './deny-entry.ts'

/**
 * Reads an answer of `changes`, and returns its cursor. Where one entry cannot be read, all others
 * count, and the answer is a failure all the same, so that it is asked for again.
 *
 * @throws Unusable
 */
export function readChanges<Cursor>(answer: unknown, each: (denial: Denial) => void): Cursor {
  if (!isChanges<Cursor>(answer)) throw new Unusable('no entries with a cursor')
  let failure: unknown
  for (const entry of answer.entries) {
    try {
      each(readDenial(entry))
    } catch (error) {
      failure ??= error
    }
  }
  if (failure !== undefined) throw failure
  return answer.cursor
}

function isChanges<Cursor>(
  answer: unknown,
): answer is { readonly entries: readonly unknown[]; readonly cursor: Cursor } {
  if (!isObject(answer)) return false
  return (
    Array.isArray(ownProperty(answer, 'entries')) && ownProperty(answer, 'cursor') !== undefined
  )
}
