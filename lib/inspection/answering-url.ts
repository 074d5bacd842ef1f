import { withAndWithoutOptional } from '../outside/router-spellings.ts'
import { roughPath } from './rough-path.ts'

/** Stands for the value of a parameter. No path that is written holds it. */
const ANY_VALUE = '\0'

/**
 * Tells of urls of gone routes whether a route of this url answers the requests for them. Where it
 * cannot be sure it says yes: of letter case, a slash at the end, and regular expressions.
 */
export function answering(url: string): (gone: string) => boolean {
  const patterns = withAndWithoutOptional(url).map(patternOf)
  return (gone) =>
    withAndWithoutOptional(gone)
      .flatMap(requestsFor)
      .some((path) => patterns.some((pattern) => pattern.test(path)))
}

/** A route with parameters does not answer for one whose path says more. */
function patternOf(url: string): RegExp {
  const source = rooted(url)
    .replace(/\/$/, '')
    .replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&')
    .replaceAll(':', '[^/]+')
    .replace(/\*$/, '.*')
  return new RegExp(`^${source}/?$`, 's')
}

/** A wildcard may stand for one segment, or for more. */
function requestsFor(url: string): string[] {
  const path = rooted(url).replaceAll(':', ANY_VALUE)
  return [ANY_VALUE, `${ANY_VALUE}/${ANY_VALUE}`].map((rest) => path.replace(/\*$/, rest))
}

/** The router keeps a lone `*` below the root. */
function rooted(url: string): string {
  return roughPath(url.startsWith('/') ? url : `/${url}`)
}
