import { Unusable } from '../outside/unusable.ts'

/** One stream of a server, by one of the clients. */
export interface RedisStream {
  /** The oldest items from an id on, which is included. */
  range(from: string, most: number): Promise<StreamItem[]>
  /** Returns its id, which begins with the server's time in milliseconds. */
  add(text: string): Promise<string>
  delete(ids: readonly string[]): Promise<void>
}

export interface StreamItem {
  readonly id: string
  /** Null: it was not made by `add`. */
  readonly text: string | null
}

/** The field of an item that holds an entry. */
export const FIELD = 'entry'

/** Before all ids. */
export const FIRST_ID = '0-0'

/** @throws Unusable */
export function readId(value: unknown): string {
  if (typeof value === 'string' && /^\d{1,20}-\d{1,20}$/.test(value)) return value
  throw new Unusable('no id of a stream')
}

/** @throws Unusable */
export function readReply(reply: unknown): unknown[] {
  if (Array.isArray(reply)) return reply
  throw new Unusable('no items of a stream')
}
