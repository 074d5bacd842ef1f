// Outside: chance. Where there are a hundred thousand texts, two of them have one hash of 32 bits
// in most processes.

import { HashIndex, type Indexed } from './hash-index.ts'
import { textHash } from './text-hash.ts'

/** What can stand in one index of keys. */
export interface Keyed<T> extends Indexed<T> {
  readonly key: string
  /** The `textHash` of the key. */
  readonly hash: number
}

/** Things by their keys, one for each. Those whose keys have one hash stand beside each other. */
export class KeyIndex<T extends Keyed<T>> extends HashIndex<T> {
  of(key: string): T | undefined {
    let item = this.find(textHash(key))
    while (item !== undefined && item.key !== key) item = item.next
    return item
  }
}
