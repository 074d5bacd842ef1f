import { hash } from 'node:crypto'
import type { TokenNames } from '../../identity/jwt/registered-claims.ts'
import { Unusable } from '../../platform/http/failure.ts'
import { isObject } from '../../platform/runtime/own-property.ts'

/**
 * Which tokens are refused, and until when. A token falls if all that is named fits it; it does not
 * fall if it lacks one of the names. At least one of `jti`, `sid`, `sub` and `issuer` is named. All
 * of them are those of the verified token, before `mapClaims`.
 *
 * 1 000 entries of one user, by `sub`, have room, and one more is a 503 for that user alone. One of
 * a `jti` or `sid` without `sub` counts for its `issuer` (without one: for everybody), whose users
 * are all answered with 503 if there is no room: name `sub` beside it if it is known.
 */
export interface DenyEntry {
  /** `jti` (RFC 7519 §4.1.7): one token. */
  readonly jti?: string
  /**
   * `sid`: one session. Needs `issuer` if tokens of several issuers are accepted by the services
   * that have the list: `add` throws without it, and entries of `changes` count all the same.
   */
  readonly sid?: string
  /**
   * `sub` (RFC 7519 §4.1.2): one user, as in `authorization.tokenSub`. Needs `issuer`, as `sid`
   * does.
   */
  readonly sub?: string
  /**
   * `iss` (RFC 7519 §4.1.1), as in `authorization.issuer`: alone, all tokens of an issuer. Null:
   * tokens that have none.
   */
  readonly issuer?: string | null
  /**
   * Only tokens whose `iat` is before this time, or that have none. `iat` is in whole seconds, by
   * the clock of the issuer: if that is ahead, name a later time. Default: of any time.
   */
  readonly issuedBefore?: Date
  /**
   * When the entry ends; `clockTolerance` counts beyond it, as for a token's `exp`. Default: in
   * each process its `maxLifetime` after the entry was stored, and five minutes more, or twice the
   * `clockTolerance`, since clocks differ.
   */
  readonly until?: Date
}

/**
 * The argument of `append`: fit for JSON, whose dates `changes` may give back as texts. It has
 * `until` if `add` was given one, and `changes` gives it back if it has one.
 */
export interface KeptEntry extends DenyEntry {
  /** Empty: tokens that have none. */
  readonly issuer?: string
}

/**
 * An entry of `changes`. Dates may be texts, as `toISOString()` makes them. `null` is a name that
 * is absent, as in a row of a table. Other members do not count.
 */
export interface GivenEntry {
  readonly jti?: string | null
  readonly sid?: string | null
  readonly sub?: string | null
  /** Empty: tokens that have none. */
  readonly issuer?: string | null
  readonly issuedBefore?: Date | string | null
  /** Not given: `maxLifetime` after it was read first. */
  readonly until?: Date | string | null
}

/** An answer of `changes`. */
export interface Changes<Cursor> {
  readonly entries: readonly GivenEntry[]
  /** Handed to the next question. */
  readonly cursor: Cursor
}

type Name = string | null

/** The names of an entry, in the order of `NAMES`, as they are stored. */
export type Names = readonly [jti: Name, sid: Name, sub: Name, issuer: Name]

/** An entry that has been checked. Times are milliseconds since the epoch. */
interface ReadEntry {
  readonly names: Names
  /** Infinity: tokens of any time. */
  readonly issuedBefore: number
  /** Null: as long as a token may live. */
  readonly until: number | null
}

type Failure = new (message: string) => Error

const NAMES = ['jti', 'sid', 'sub', 'issuer'] as const
const TIMES = ['issuedBefore', 'until'] as const
const MEMBERS: readonly string[] = [...NAMES, ...TIMES]

/** Most characters of a name that is stored as it is: all entries are in memory. */
const LONGEST_KEPT = 256

/** Most characters of a name. No token that is accepted has a longer one. */
const LONGEST_NAME = 65_536

/**
 * The argument of `add`. A member that is missing by mistake must not widen an entry, and one that
 * is misspelt must not either.
 *
 * @throws TypeError
 */
export function readAddedEntry(entry: unknown): KeptEntry {
  if (!isObject(entry)) throw new TypeError('add() takes an entry')
  const given = Object.getOwnPropertyNames(entry)
  if (!given.every((name) => MEMBERS.includes(name))) {
    throw new TypeError(`an entry has ${MEMBERS.join(', ')} alone`)
  }
  const kept: Record<string, unknown> = {}
  for (const name of MEMBERS) {
    const value = memberOf(entry, name, TypeError)
    if (!given.includes(name)) continue
    const isDate = name === 'issuedBefore' || name === 'until'
    const isGood = isDate ? value instanceof Date : isName(name, value)
    if (!isGood) throw new TypeError(`${name} of an entry must be ${isDate ? 'a Date' : A_NAME}`)
    // In entries of a table, `null` is a name that is absent.
    kept[name] = isDate ? new Date(readTime(value, TypeError)) : (value ?? '')
  }
  return kept
}

/**
 * One entry of an answer. Unknown members, which should have narrowed it, do not count.
 *
 * @throws an error of the class that is given
 */
export function readEntry(entry: unknown, Failure: Failure = Unusable): ReadEntry {
  if (!isObject(entry)) throw new Failure('an entry must be an object')
  const name = (member: (typeof NAMES)[number]): Name => {
    const value = memberOf(entry, member, Failure) ?? null
    if (value === null || (member === 'issuer' && value === '')) return keptName(value)
    if (isName(member, value)) return keptName(value)
    throw new Failure(`${member} of an entry must be ${A_NAME}`)
  }
  const names: Names = [name('jti'), name('sid'), name('sub'), name('issuer')]
  if (names.every((each) => each === null)) {
    throw new Failure(`an entry must name one of ${NAMES.join(', ')}`)
  }
  const time = (member: (typeof TIMES)[number]): number | null => {
    const value = memberOf(entry, member, Failure) ?? null
    return value === null ? null : readTime(value, Failure)
  }
  return {
    names,
    issuedBefore: time('issuedBefore') ?? Number.POSITIVE_INFINITY,
    until: time('until'),
  }
}

/**
 * A name with its length, so that no name runs into the next, and none looks like the hash of a
 * longer one. A token that has no issuer has an empty one.
 */
function keptName(name: string | null): string | null {
  if (name === null) return null
  if (name.length <= LONGEST_KEPT) return `${name.length}:${name}`
  return `${name.length}:${hash('sha256', Buffer.from(name, 'utf16le'), 'base64')}`
}

export function namesOfToken({ jti, sid, sub, issuer }: TokenNames): Names {
  return [keptName(jti), keptName(sid), keptName(sub), keptName(issuer ?? '')]
}

const A_NAME = `a string of 1 to ${LONGEST_NAME} characters`

function isName(member: string, value: unknown): value is string | null {
  if (value === null) return member === 'issuer'
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_NAME
}

/** A member that is there in another way than as a value of the entry's own would be left out. */
function memberOf(entry: object, name: string, Failure: Failure): unknown {
  const own = Object.getOwnPropertyDescriptor(entry, name)
  // The first look decides: `in` may be answered by a proxy of the application.
  if (own === undefined && !(name in entry)) return undefined
  if (own?.enumerable === true && 'value' in own) return own.value
  throw new Failure(`${name} of an entry must be a plain member of its own`)
}

function readTime(value: unknown, Failure: Failure): number {
  const time = value instanceof Date ? value : new Date(typeof value === 'string' ? value : '')
  const milliseconds = Date.prototype.getTime.call(time)
  // A text of another form is read in the time zone of the machine, or as another day.
  const isExact = !Number.isNaN(milliseconds) && (value === time || value === time.toISOString())
  if (!isExact) throw new Failure('a time of an entry must be a Date, or a text of toISOString()')
  return milliseconds
}
