import { isWithin } from '../settings/look-alike.ts'

/**
 * Keys that say what `require` is for, with words of others: `requireAny`, `required`,
 * `requiresAll`.
 */
const REQUIRING = /^require[sd]?(?:any|all|one|some|each)?(?:of)?$/

/**
 * The one of `names` that `word` is a slip of: it differs in case, in `_` or `-`, or in one letter.
 * Undefined if `word` is one of the names, or like no name.
 */
export function misspelt<Name extends string>(
  word: string,
  names: readonly Name[],
): Name | undefined {
  if (names.some((name) => name === word)) return undefined
  const plain = plainOf(word)
  return names.find(
    (name) => isWithin(1, plain, plainOf(name)) || (name === 'require' && REQUIRING.test(plain)),
  )
}

/**
 * Whether a path parameter may have been meant for `name`. It may if both are the same without
 * case, `_`, `-` and an ending such as `Id`. One letter may differ if the name is long enough.
 */
export function resembles(parameter: string, name: string): boolean {
  const wanted = plainOf(name)
  const plain = plainOf(parameter)
  return [plain, plain.replace(/(?:id|name|slug|key)$/, '')].some(
    (each) => each === wanted || (wanted.length >= 5 && isWithin(1, each, wanted)),
  )
}

function plainOf(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, '')
}
