import { randomBytes } from 'node:crypto'
import { textHash } from '../../../lib/outside/text-hash.ts'

/** Two texts that have one hash in this process; among so many, there are some. */
export function textsOfOneHash(): [string, string] {
  const seen = new Map<number, string>()
  for (let tries = 0; tries < 1_000_000; tries++) {
    const text = randomBytes(8).toString('latin1')
    const hash = textHash(text)
    const before = seen.get(hash)
    if (before !== undefined) return [before, text]
    seen.set(hash, text)
  }
  throw new Error('no two texts have one hash')
}
