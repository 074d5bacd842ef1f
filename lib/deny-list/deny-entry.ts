import { isObject } from '../outside/is-object.ts'
import { ownProperty } from '../outside/own-property.ts'
import { ownText } from '../outside/own-text.ts'
import { Unusable } from '../outside/unusable.ts'

/**
 * Which tokens are refused, and until when. A token falls if all that is named fits it; it does not
 * fall if it lacks one of the names. At least one of `jti`, `sid`, `sub` and `issuer` is named.
 */
export interface DenyEntry {
  /** `jti` (RFC 7519 §4.1.7): one token. */
  readonly jti?: string
  /**
   * `sid`: one session. Needs `issuer` where tokens of several issuers are accepted by the services
   * that have the list: `add` throws without it, and what `changes` tells counts all the same.
   */
  readonly sid?: string
  /** `sub` (RFC 7519 §4.1.2): one user. Needs `issuer`, as `sid` does. */
  readonly sub?: string
  /** `iss` (RFC 7519 §4.1.1): alone, all tokens of an issuer. */
  readonly issuer?: string
  /**
   * Only tokens whose `iat` is before this time, or that have none. `iat` is in whole seconds, by
   * the clock of the issuer: where that is ahead, name a later time. Default: of any time.
   */
  readonly issuedBefore?: Date
  /**
   * When the entry ends. Default: `maxLifetime` from now, and five minutes more, or twice the
   * `clockTolerance`, since clocks differ and tokens are accepted for so long beyond their end.
   */
  readonly until?: Date
}

/** An entry as `append` is given it: fit for JSON, whose dates `changes` may give back as texts. */
export interface KeptEntry extends DenyEntry {
  readonly until: Date
}

/**
 * An entry as `changes` gives it. Dates may be texts, as `toISOString()` makes them. `null` is a
 * name that is absent, as in a row of a table. Other members do not count.
 */
export interface GivenEntry {
  readonly jti?: string | null
  readonly sid?: string | null
  readonly sub?: string | null
  readonly issuer?: string | null
  readonly issuedBefore?: Date | string | null
  readonly until: Date | string
}

/** An answer of `changes`. */
export interface Changes<Cursor> {
  readonly entries: readonly GivenEntry[]
  /** Handed to the next question. */
  readonly cursor: Cursor
}

type Name = string | null

/** What is named of `NAMES`, in their order. */
export type Names = readonly [jti: Name, sid: Name, sub: Name, issuer: Name]

/** An entry that has been checked. */
export interface Denial {
  readonly names: Names
  /** Milliseconds since the epoch; Infinity: tokens of any time. */
  readonly issuedBefore: number
  /** Milliseconds since the epoch. */
  readonly until: number
}

/** What tells tokens apart: members of an entry and of a `TokenInfo`. */
export const NAMES = ['jti', 'sid', 'sub', 'issuer'] as const

const MEMBERS = [...NAMES, 'issuedBefore', 'until']

/** Most characters of a name. All entries are held in memory. */
const LONGEST_NAME = 2048

/** Least seconds by which clocks may differ, with the tolerance for a token's end. */
const SLACK = 300

/**
 * What an application gave to `add`. A member that is missing by mistake must not widen an entry,
 * and one that is misspelt must not either.
 *
 * @param maxLifetime in seconds
 * @param clockTolerance in seconds; a token's `iat` and `exp` may each be off by so much
 * @throws TypeError
 */
export function readAddedEntry(
  entry: unknown,
  maxLifetime: number,
  clockTolerance: number,
): KeptEntry {
  if (!isObject(entry)) throw new TypeError('add() takes an entry')
  const given = Object.getOwnPropertyNames(entry)
  const unknown = given.find((name) => !MEMBERS.includes(name))
  if (unknown !== undefined) throw new TypeError(`an entry has ${MEMBERS.join(', ')} alone`)
  for (const name of given) {
    const isDate = name === 'issuedBefore' || name === 'until'
    const isGood = isDate ? entry[name] instanceof Date : typeof entry[name] === 'string'
    if (!isGood) throw new TypeError(`${name} of an entry must be a ${isDate ? 'Date' : 'string'}`)
  }
  const slack = Math.max(SLACK, 2 * clockTolerance)
  const until = entry['until'] ?? new Date(Date.now() + (maxLifetime + slack) * 1000)
  const { names, ...times } = readDenial({ ...entry, until }, TypeError)
  if (times.until <= Date.now()) throw new TypeError('until of an entry is over')
  const named = NAMES.map((name, i) => [name, names[i]]).filter(([, value]) => value !== null)
  return {
    ...Object.fromEntries(named),
    ...(given.includes('issuedBefore') && { issuedBefore: new Date(times.issuedBefore) }),
    until: new Date(times.until),
  }
}

/**
 * For an entry of tokens of several issuers: each of them gives its own users and sessions their
 * names, so that a name alone would be that of others too.
 *
 * @throws TypeError
 */
export function requireIssuer({ sid, sub, issuer }: KeptEntry): void {
  if (issuer !== undefined || (sid === undefined && sub === undefined)) return
  throw new TypeError('sub and sid of an entry need issuer: several issuers are accepted')
}

/**
 * One entry of an answer. What it should have narrowed by an unknown member is denied wholly.
 *
 * @throws an error of the class that is given
 */
export function readDenial(
  entry: unknown,
  Failure: new (message: string) => Error = Unusable,
): Denial {
  if (!isObject(entry)) throw new Failure('an entry must be an object')
  const read = (name: string) => readName(name, ownProperty(entry, name) ?? null, Failure)
  const names: Names = [read('jti'), read('sid'), read('sub'), read('issuer')]
  if (names.every((name) => name === null)) {
    throw new Failure(`an entry must name one of ${NAMES.join(', ')}`)
  }
  const issuedBefore = ownProperty(entry, 'issuedBefore') ?? null
  return {
    names,
    issuedBefore:
      issuedBefore === null ? Number.POSITIVE_INFINITY : readTime(issuedBefore, Failure),
    until: readTime(ownProperty(entry, 'until'), Failure),
  }
}

function readName(name: string, value: unknown, Failure: new (message: string) => Error): Name {
  if (value === null) return null
  if (typeof value === 'string' && value !== '' && value.length <= LONGEST_NAME) {
    return ownText(value)
  }
  throw new Failure(`${name} of an entry must be a string of 1 to ${LONGEST_NAME} characters`)
}

function readTime(value: unknown, Failure: new (message: string) => Error): number {
  const time = value instanceof Date ? value : new Date(typeof value === 'string' ? value : '')
  // A text of another form is read in the time zone of the machine, or as another day.
  const isExact = !Number.isNaN(time.getTime()) && (value === time || value === time.toISOString())
  if (!isExact) throw new Failure('a time of an entry must be a Date, or a text of toISOString()')
  return time.getTime()
}
