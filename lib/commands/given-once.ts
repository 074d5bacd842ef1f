import { UsageError } from './command.ts'

/** A part of a command line, as `parseArgs` tells it. */
interface Token {
  readonly kind: string
  readonly name?: string
}

/**
 * Of an option that is given twice, `parseArgs` keeps the last value, and the other one would say
 * nothing.
 *
 * @param repeatable options of which each counts
 * @throws UsageError that names the first one that is given twice
 */
export function checkGivenOnce(tokens: readonly Token[], repeatable: readonly string[] = []): void {
  const options = tokens.filter(({ kind }) => kind === 'option')
  const names = options.flatMap(({ name = '' }) => (repeatable.includes(name) ? [] : name))
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new UsageError(`--${twice} is given twice`)
}
