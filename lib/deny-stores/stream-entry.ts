import { type GivenEntry, readDenial } from '../deny-list/deny-entry.ts'
import { isObject } from '../outside/is-object.ts'
import type { StreamItem } from './redis-stream.ts'

/** Stands for what cannot be read. It is refused where all entries are checked. */
const UNREADABLE: GivenEntry = { until: '' }

/** The entry of an item, unchecked. */
export function entryOf({ text }: StreamItem): GivenEntry {
  try {
    const entry: unknown = JSON.parse(text ?? '')
    return isEntry(entry) ? entry : UNREADABLE
  } catch {
    return UNREADABLE
  }
}

/** Whether its entry ended before a time. What cannot be read has no end. */
export function endedBefore(item: StreamItem, time: number): boolean {
  try {
    return readDenial(entryOf(item)).until < time
  } catch {
    return false
  }
}

/** Its members are checked where all entries are. */
function isEntry(value: unknown): value is GivenEntry {
  return isObject(value)
}
