/** A function of the application, or of a server, that never answers. */
export function neverAnswering() {
  let note = (): void => {}
  /** It has been asked. */
  const isAsked = new Promise<void>((resolve) => {
    note = resolve
  })
  const ask = (): Promise<never> => {
    note()
    return new Promise(() => {})
  }
  return { ask, isAsked }
}
