import { withAndWithoutOptional } from '../outside/router-spellings.ts'
import { roughSpelling } from './rough-path.ts'

/** A method and a path, in any spelling. */
interface Place {
  readonly method: string
  readonly url: string
}

/**
 * Printed routes that have no `seen` route. Each seen route matches one printed route, because one
 * path may have several routes with different constraints.
 */
export function unseenRoutes<Printed extends Place>(
  printed: readonly Printed[],
  seen: readonly Place[],
): Printed[] {
  const written = seen.flatMap(({ method, url }) =>
    withAndWithoutOptional(url).map((each) => ({ method, url: each })),
  )
  const exactly = match(printed, written, (url) => url)
  // The router joins the parameters of one place. It may also be told to ignore letter case and
  // slashes.
  return match(exactly.printed, exactly.seen, roughSpelling).printed
}

/**
 * What is left of both lists when each printed route has taken a seen one with the same spelling.
 */
function match<Printed extends Place>(
  printed: readonly Printed[],
  seen: readonly Place[],
  spell: (url: string) => string,
): { printed: Printed[]; seen: Place[] } {
  const left = new Map<string, Place[]>()
  for (const place of seen) {
    const key = `${place.method} ${spell(place.url)}`
    const alike = left.get(key)
    if (alike) alike.push(place)
    else left.set(key, [place])
  }
  return {
    printed: printed.filter(
      ({ method, url }) => left.get(`${method} ${spell(url)}`)?.pop() === undefined,
    ),
    seen: [...left.values()].flat(),
  }
}
