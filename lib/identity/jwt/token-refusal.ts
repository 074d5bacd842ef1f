import { ERR_AUTH_TOKEN_INVALID, type Mismatch } from '../../errors.ts'
import { withoutStack } from '../../platform/runtime/error.ts'

/**
 * The refusal of a token. The reason is constant text for the log; neither the reason nor the
 * mismatch is part of a response. Strangers cause it, and a stack would cost more than the checks
 * that led to it.
 */
export function tokenRefusal(reason: string, mismatch?: () => Mismatch): ERR_AUTH_TOKEN_INVALID {
  return withoutStack(() => new ERR_AUTH_TOKEN_INVALID(reason, mismatch))
}

/** Most characters of each text. */
const MAX_LENGTH = 100

/**
 * The expected value of a claim, and the one that was found. The texts are made when somebody reads
 * them, so that a refusal costs no more without a log of level debug. They are copies: an error
 * passes through hooks of the application, and none of them must reach the rules that decide.
 */
export function mismatch(
  of: Mismatch['of'],
  expected: Iterable<string | undefined>,
  found: unknown,
): () => Mismatch {
  let made: Mismatch | undefined
  return () => {
    // Made once: `expected` may be an iterator, which has nothing to give to a second reader.
    made ??= Object.freeze({
      of,
      expected: cut([...expected].map(show).join(' or ')),
      unverified: cut(Array.isArray(found) ? `[${showItems(found)}]` : show(found)),
    })
    return made
  }
}

/** A list may be as long as a token allows; the first items fill the text. */
function showItems(items: readonly unknown[]): string {
  return items.slice(0, MAX_LENGTH).map(show).join(', ')
}

/**
 * Strings in quotes, so that no string reads as one of the words. Other values by their type only.
 */
function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value !== 'string') return value === null ? 'null' : `a value of type ${typeof value}`
  return JSON.stringify(value.slice(0, MAX_LENGTH)).replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function cut(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 3)}...` : text
}
