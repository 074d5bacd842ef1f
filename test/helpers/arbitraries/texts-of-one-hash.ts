import { textHash } from '../../../lib/outside/text-hash.ts'

/** Two texts of one hash, which are others in each process. Of 80 000 texts, two have one hash. */
export function textsOfOneHash(): [one: string, other: string] {
  const seen = new Map<number, string>()
  for (let serial = 0; serial < 2 ** 21; serial++) {
    const text = Math.imul(serial, 0x9e3779b1).toString(36)
    const twin = seen.get(textHash(text))
    if (twin !== undefined) return [twin, text]
    seen.set(textHash(text), text)
  }
  throw new Error('no two texts have one hash')
}
