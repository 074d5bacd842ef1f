/** The same for urls that a router may not tell apart: without a slash at the end, too. */
export function roughSpelling(url: string): string {
  return roughPath(url).replace(/\/$/, '')
}

/** In small letters, with single slashes. A segment is cut at its first parameter. */
export function roughPath(url: string): string {
  let spelled = ''
  let isParameter = false
  let depth = 0
  for (const char of url.toLowerCase()) {
    if (char === '/' && depth <= 0) isParameter = false
    if (!isParameter && !(char === '/' && spelled.endsWith('/'))) spelled += char
    if (char === ':') isParameter = true
    if (isParameter) depth += Number(char === '(') - Number(char === ')')
  }
  return spelled
}
