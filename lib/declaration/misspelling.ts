/** Keys that say what `require` is for, with words of others: `requireAny`, `required`, `requiresAll`. */
const REQUIRING = /^require[sd]?(?:any|all|one|some|each)?(?:of)?$/

/**
 * The one of `names` that `word` is a slip of: other case, `_` or `-`, or one letter. Undefined where it is one of them,
 * or like none.
 */
export function misspelt<Name extends string>(
  word: string,
  names: readonly Name[],
): Name | undefined {
  if (names.some((name) => name === word)) return undefined
  const plain = plainOf(word)
  return names.find(
    (name) => isOneLetterOff(plain, plainOf(name)) || (name === 'require' && REQUIRING.test(plain)),
  )
}

/**
 * Whether a path parameter may have been meant for `name`: but for case, `_`, `-` and an ending such as `Id` it is the
 * same, or one letter off where the name is long enough to tell.
 */
export function resembles(parameter: string, name: string): boolean {
  const wanted = plainOf(name)
  const plain = plainOf(parameter)
  return [plain, plain.replace(/(?:id|name|slug|key)$/, '')].some(
    (each) => each === wanted || (wanted.length >= 5 && isOneLetterOff(each, wanted)),
  )
}

function plainOf(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, '')
}

/** Another letter, one more, one less, or two in each other's place. */
function isOneLetterOff(a: string, b: string): boolean {
  if (a === b) return true
  let i = 0
  while (a[i] === b[i]) i++
  const [restA, restB] = [a.slice(i), b.slice(i)]
  const [tailA, tailB] = [a.slice(i + 1), b.slice(i + 1)]
  const isSwap = restA.slice(0, 2) === `${restB.charAt(1)}${restB.charAt(0)}`
  return (
    tailA === tailB ||
    tailA === restB ||
    restA === tailB ||
    (isSwap && restA.slice(2) === restB.slice(2))
  )
}
