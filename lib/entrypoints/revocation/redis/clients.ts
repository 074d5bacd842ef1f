import { Unusable } from '../../../platform/http/failure.ts'
import { clock } from '../../../platform/runtime/clock.ts'
import { isThrown } from '../../../platform/runtime/error.ts'
import { isObject, ownProperty } from '../../../platform/runtime/own-property.ts'
import { TIMEOUT } from '../poller.ts'

/** One stream of a server, by one of the clients. */
export interface RedisStream {
  /** The oldest items from an id on, which is included. */
  range(from: string, most: number): Promise<StreamItem[]>
  /** Returns its id, which begins with the server's time in milliseconds. */
  add(text: string): Promise<string>
  delete(ids: readonly string[]): Promise<unknown>
}

export interface StreamItem {
  readonly id: string
  /** Null: it was not made by `add`. */
  readonly text: string | null
}

const FIELD = 'entry'

/** The needed part of a client of ioredis or iovalkey, also of a cluster. */
export interface IoredisClient {
  xadd(key: string, id: string, field: string, value: string): Promise<unknown>
  xdel(key: string, ...ids: string[]): Promise<unknown>
  xrange(key: string, start: string, end: string, token: 'COUNT', count: number): Promise<unknown>
}

/** The needed part of a client of the package redis, also of a cluster or of sentinels. */
export interface NodeRedisClient extends NodeRedisCommands {
  withTypeMapping(mapping: Record<never, never>): NodeRedisCommands
}

export interface NodeRedisCommands {
  xAdd(key: string, id: string, message: Record<string, string>): Promise<unknown>
  xDel(key: string, ids: string[]): Promise<unknown>
  xRange(
    key: string,
    start: string,
    end: string,
    options: { readonly COUNT: number },
  ): Promise<unknown>
}

/** The client of an application for Redis or Valkey. */
export type RedisClient = IoredisClient | NodeRedisClient

export function isRedisClient(value: unknown): value is RedisClient {
  return isIoredisClient(value) || hasMethods(value, ['xAdd', 'xDel', 'xRange', 'withTypeMapping'])
}

function isIoredisClient(value: unknown): value is IoredisClient {
  return hasMethods(value, ['xadd', 'xdel', 'xrange'])
}

/** Methods of clients are inherited. */
function hasMethods(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof value[name] === 'function')
}

export function streamOf(client: RedisClient, key: string): RedisStream {
  if (isIoredisClient(client)) {
    return {
      range: async (from, most) =>
        readReply(await client.xrange(key, from, '+', 'COUNT', most), readIoredisItem),
      add: async (text) => readId(await client.xadd(key, '*', FIELD, text)),
      delete: (ids) => client.xdel(key, ...ids),
    }
  }
  // Their answers hold texts and objects, even if the application wants others.
  const commands = client.withTypeMapping({})
  return {
    range: async (from, most) =>
      readReply(await commands.xRange(key, from, '+', { COUNT: most }), readNodeRedisItem),
    add: async (text) => readId(await commands.xAdd(key, '*', { [FIELD]: text })),
    delete: (ids) => commands.xDel(key, [...ids]),
  }
}

function readIoredisItem(item: unknown): StreamItem {
  if (!Array.isArray(item) || !Array.isArray(item[1])) throw new Unusable('no item of a stream')
  const [field, text] = item[1]
  return { id: readId(item[0]), text: field === FIELD && typeof text === 'string' ? text : null }
}

function readNodeRedisItem(item: unknown): StreamItem {
  const { id, message }: Record<string, unknown> = Object(item)
  const text = ownProperty(Object(message), FIELD)
  return { id: readId(id), text: typeof text === 'string' ? text : null }
}

function readId(value: unknown): string {
  if (typeof value === 'string' && /^\d{1,20}-\d{1,20}$/.test(value)) return value
  throw new Unusable('no id of a stream')
}

function readReply(reply: unknown, readItem: (item: unknown) => StreamItem): StreamItem[] {
  if (Array.isArray(reply)) return reply.map(readItem)
  throw new Unusable('no items of a stream')
}

/** Milliseconds for which a command counts as lost. Its answer may come late, or never. */
const LOST_FOR = 3_600_000

/** More than are sent in that time if there is one place, and each answer is lost. */
const MOST_TRIES = 400

/**
 * Sends commands, and no more than so many at once: a client that is offline queues them all. A
 * client may lose an answer for good with its connection. So one command more is sent every ten
 * seconds while all places are taken. An answer shows that those which were sent ten seconds or more
 * before it are lost. The lost ones are bounded, too: one node of a cluster may answer for years
 * while the client queues all that is for another one.
 */
export function commandSender(most = 10_000, reason = 'too many at once') {
  /** The commands that wait, the oldest first. */
  const waiting = new Set<Command>()
  const lost = new Set<Command>()
  let triedAt = Number.NEGATIVE_INFINITY
  return async <T>(send: () => Promise<T>): Promise<T> => {
    const now = clock.now()
    dropOlder(lost, now - LOST_FOR)
    if (lost.size >= 10 * most + MOST_TRIES) throw new Unusable(reason)
    if (waiting.size >= most) {
      const [oldest = { sentAt: now }] = waiting
      if (now - Math.max(oldest.sentAt, triedAt) < TIMEOUT) throw new Unusable(reason)
      triedAt = now
    }
    const command = { sentAt: now }
    waiting.add(command)
    try {
      const answer = await send()
      for (const other of dropOlder(waiting, now - TIMEOUT)) lost.add(other)
      return answer
    } catch (error) {
      throw redisFailure(error)
    } finally {
      waiting.delete(command)
      lost.delete(command)
    }
  }
}

interface Command {
  /** A reading of `clock`. */
  readonly sentAt: number
}

/** Removes the commands that were sent until then, of a set whose oldest one is first. */
function dropOlder(commands: Set<Command>, then: number): Command[] {
  const older: Command[] = []
  for (const command of commands) {
    if (command.sentAt > then) break
    commands.delete(command)
    older.push(command)
  }
  return older
}

/** The first words of answers that refuse a command. */
const CODES = new Set([
  ...['ERR', 'NOAUTH', 'NOPERM', 'WRONGPASS', 'WRONGTYPE', 'READONLY', 'OOM', 'LOADING'],
  ...['MISCONF', 'NOREPLICAS', 'MASTERDOWN', 'CLUSTERDOWN', 'CROSSSLOT', 'MOVED', 'ASK'],
  ...['TRYAGAIN', 'BUSY', 'UNBLOCKED'],
])

/**
 * An error of the code that a server's words begin with, of the code of the connection's failure,
 * or of the name of the client's error. Nothing else is repeated: the words may hold an entry, and
 * clients add the command, with its arguments.
 */
export function redisFailure(error: unknown): Error {
  if (isThrown(error, Unusable)) return error
  const { message, code } = Object(error)
  const [word = ''] = String(message).split(' ', 1)
  if (CODES.has(word)) {
    return Object.assign(new Error('the server refused a command'), { code: word })
  }
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) {
    return Object.assign(new Error(String(message)), { code })
  }
  const words = LOST_CONNECTION.has(message) ? message : 'the client failed'
  return Object.assign(new Error(words), { name: nameOf(error) })
}

/** The classes of the package redis have the name of their base. */
function nameOf(error: unknown): string {
  const { name, constructor: made } = Object(error)
  return String((name === 'Error' && ownProperty(Object(made), 'name')) || name)
}

/** Messages of the clients about a connection that is lost. */
const LOST_CONNECTION: ReadonlySet<unknown> = new Set([
  'Connection is closed.',
  'Command timed out',
  'Socket closed unexpectedly',
  'The client is closed',
  "Stream isn't writeable and enableOfflineQueue options is false",
])
