import type { TokenInfo } from '../../../identity/jwt/token-info.ts'
import { type Names, namesOfToken } from '../entry.ts'
import type { ActiveEntry } from './active-entry.ts'

interface Watched {
  readonly names: Names
  readonly issuedAt: number | undefined
  readonly onRevoked: () => void
}

/**
 * The tokens whose revocation somebody waits for. An entry finds them by its rarest name, so that
 * its price does not depend on how many others there are.
 */
export class WatchedTokens {
  readonly #byName = new Map<string, Set<Watched>>()

  add(token: TokenInfo, onRevoked: () => void): () => void {
    const names = namesOfToken(token)
    const watched = { names, issuedAt: token.issuedAt?.getTime(), onRevoked }
    for (const key of keysOf(names)) {
      const together = this.#byName.get(key) ?? new Set()
      this.#byName.set(key, together.add(watched))
    }
    return () => this.#delete(watched)
  }

  /** Calls the functions of the tokens that an entry fits, each once. */
  notify(names: Names, entry: ActiveEntry): void {
    if (this.#byName.size === 0) return
    const [rarest = ''] = keysOf(names)
    for (const watched of [...(this.#byName.get(rarest) ?? [])]) {
      const isNamed = names.every((name, i) => name === null || name === watched.names[i])
      if (!isNamed || !entry.fits(watched.issuedAt)) continue
      this.#delete(watched)
      watched.onRevoked()
    }
  }

  #delete(watched: Watched): void {
    for (const key of keysOf(watched.names)) {
      const together = this.#byName.get(key)
      together?.delete(watched)
      if (together?.size === 0) this.#byName.delete(key)
    }
  }
}

/** One text for each name that is set, the rarest first: a token before a session before a user. */
function keysOf(names: Names): string[] {
  return names.flatMap((name, i) => (name === null ? [] : [`${i} ${name}`]))
}
