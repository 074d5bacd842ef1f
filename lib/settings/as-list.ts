/** A frozen list of what an option says as one text, or as a list. */
export function asList(value: string | readonly string[] | undefined) {
  return value === undefined
    ? undefined
    : Object.freeze(typeof value === 'string' ? [value] : [...value])
}
