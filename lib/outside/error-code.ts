// Outside: errors of other code. Their messages may hold what was sent.

const CODE = /^[A-Z][A-Z0-9_]{0,39}$/
const NAME = /^[A-Z][A-Za-z]{0,30}Error$/

/**
 * What may be told of such an error: its code, such as ECONNREFUSED, or its name. Its message is
 * never repeated, because it may hold what was sent.
 */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'no error object'
  const code = 'code' in error ? error.code : undefined
  if (typeof code === 'string' && CODE.test(code)) return code
  return NAME.test(error.name) ? error.name : 'Error'
}
