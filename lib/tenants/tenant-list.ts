import { setImmediate } from 'node:timers/promises'
import { Unusable } from '../outside/unusable.ts'
import { isTenantName } from './tenant-name.ts'

/** Characters that are read at one go. It takes some milliseconds. */
const PIECE_LENGTH = 64 * 1024

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

/**
 * The names of a JSON array. It is read piece by piece, and requests are served between two pieces: a list
 * of 16 MiB takes a second in all.
 *
 * @throws Unusable unless it is a list of tenant names, and nothing else
 */
export async function readTenantList(
  text: string,
  pieceLength = PIECE_LENGTH,
): Promise<ReadonlySet<string>> {
  const begin = text.indexOf('[') + 1
  const end = text.lastIndexOf(']')
  // What is left without the members is the empty list.
  assertList(readArray(text.slice(0, begin) + text.slice(end)).length === 0)
  const names = new Set<string>()
  for (const piece of piecesOf(text, begin, end, pieceLength)) {
    const members = readArray(`[${piece}]`)
    // The empty list is one piece; any other one without a member is two commas in a row, or one too many.
    assertList(members.length > 0 || piece.length === end - begin)
    for (const member of members) {
      assertList(isTenantName(member))
      names.add(member)
    }
    await setImmediate()
  }
  return names
}

/**
 * Cuts the members at commas between strings. If every piece is a list of strings, so is the whole, however
 * it was cut.
 */
function* piecesOf(text: string, begin: number, end: number, length: number): Generator<string> {
  let isInString = false
  let from = begin
  for (let i = begin; i < end; i++) {
    const character = text.charCodeAt(i)
    if (character === BACKSLASH) i += 1
    else if (character === QUOTE) isInString = !isInString
    else if (character === COMMA && !isInString && i - from >= length) {
      yield text.slice(from, i)
      from = i + 1
    }
  }
  yield text.slice(from, end)
}

function readArray(text: string): readonly unknown[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Not JSON, and so no list.
  }
  assertList(Array.isArray(value))
  return value
}

function assertList(isList: boolean): asserts isList {
  if (!isList) throw new Unusable('the answer is no JSON array of tenant names')
}
