import type { TokenInfo } from '../tokens/token-info.ts'
import { NAMES, type Names } from './deny-entry.ts'
import type { HeldDenial } from './held-denial.ts'

interface Watched {
  readonly names: Names
  readonly issuedAt: number | undefined
  readonly onDenied: () => void
}

/**
 * The tokens of which somebody wants to know when an entry fits. An entry finds them by its rarest
 * name, so that its price does not depend on how many others there are.
 */
export class WatchedTokens {
  readonly #byName = new Map<string, Set<Watched>>()

  /** Returns what ends the wait. */
  add(token: TokenInfo, onDenied: () => void): () => void {
    const names: Names = [token.jti, token.sid, token.sub, token.issuer]
    const watched = { names, issuedAt: token.issuedAt?.getTime(), onDenied }
    for (const key of keysOf(names)) {
      const together = this.#byName.get(key) ?? new Set()
      this.#byName.set(key, together.add(watched))
    }
    return () => this.#delete(watched)
  }

  /** Calls the functions of the tokens that an entry fits, each once. */
  tell(denial: HeldDenial): void {
    const [rarest = ''] = keysOf(denial.names)
    for (const watched of [...(this.#byName.get(rarest) ?? [])]) {
      if (!isNamed(watched.names, denial.names) || !denial.fits(watched.issuedAt)) continue
      this.#delete(watched)
      watched.onDenied()
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
  return names.flatMap((name, i) => (name === null ? [] : [`${NAMES[i]} ${name}`]))
}

function isNamed(token: Names, denial: Names): boolean {
  return denial.every((name, i) => name === null || name === token[i])
}
