import type { Static, TObject, TProperties, TSchema } from '@sinclair/typebox'
import * as Type from '@sinclair/typebox'
import { KeySet, NO_KEYS, readKeySet } from '../identity/jwks/jwk-set.ts'
import { Unusable } from '../platform/http/failure.ts'
import { isPlainData, ownProperty } from '../platform/runtime/own-property.ts'
import { UnreadableValue } from './ini-line.ts'
import { ownMembers, Problems, type Source } from './problems.ts'
import { showHidden, showReason, showValue } from './redact.ts'
import { isOptional, isRight } from './schema-check.ts'

interface Given {
  readonly value: unknown
  /** The value as a message shows it, if that is another one. */
  readonly written?: unknown
  readonly source: Source
}

/**
 * Reads options: those of the guard, the rules of an issuer, or the options of a function of an
 * entry point. Problems are collected, so that one error lists all.
 */
export class OptionReader<Members extends TProperties> {
  readonly #members: Members
  readonly #placeOf: (name: string) => Source
  readonly #problems: Problems
  /** The last source of each, right or wrong. */
  readonly #sources = new Map<NameOf<Members>, Source>()
  readonly #values = new Map<string, unknown>()
  #keySet: KeySet | undefined

  /** @param placeOf the place of an option that is given in code, or that nobody gave */
  constructor(members: Members, placeOf: (name: string) => Source, problems: Problems) {
    this.#members = members
    this.#placeOf = placeOf
    this.#problems = problems
  }

  takeObject(given: unknown, self: Source): void {
    const own = ownMembers(given, self, this.#placeOf, this.#problems)
    for (const [name, value] of own) this.takeMember(name, value)
  }

  /** @param alsoKnown names that a message lists, and that are read elsewhere */
  takeMember(name: string, value: unknown, alsoKnown: readonly string[] = []): void {
    const source = this.#placeOf(name)
    if (isNameOf(this.#members, name)) {
      this.take(name, { value, source })
    } else {
      this.#problems.addUnknown(name, source, [...namesOf(this.#members), ...alsoKnown])
    }
  }

  /** The later one of two wins. */
  take(name: NameOf<Members>, { value, written = value, source }: Given): void {
    this.#sources.set(name, source)
    this.#values.delete(name)
    const schema = this.schemaOf(name)
    const keys = name === 'publicKeys' ? readKeys(value) : undefined
    if (keys instanceof KeySet) this.#keySet = keys
    if (value instanceof UnreadableValue) {
      this.refuse(name, value.expected, value.found)
    } else if (typeof keys === 'string') {
      this.refuse(name, expectedOf(schema), `${showHidden(written)}: ${showReason(keys)}`)
    } else if (isAllowed(schema, value)) {
      this.#values.set(name, value)
    } else {
      const show = ownProperty(schema, 'isSecret') === true ? showHidden : showValue
      this.#problems.addValue(source, expectedOf(schema), written, hintOf(schema, value), show)
    }
  }

  /** The keys of `publicKeys`, if somebody gave them and they are right. */
  get keySet(): KeySet | undefined {
    return this.#keySet
  }

  /** True: somebody gave it, right or wrong. A member that is undefined is given, too. */
  has(name: NameOf<Members>): boolean {
    return this.#sources.has(name)
  }

  get given(): ReadonlySet<NameOf<Members>> {
    return new Set(this.#sources.keys())
  }

  schemaOf(name: NameOf<Members>): TSchema {
    return this.#members[name] ?? Type.Never()
  }

  sourceOf(name: NameOf<Members>): Source {
    return this.#sources.get(name) ?? this.#placeOf(name)
  }

  /** @param found the value as the message shows it */
  refuse(name: NameOf<Members>, expected: string, found: string, hint?: string): void {
    this.#problems.add(this.sourceOf(name), expected, found, hint)
  }

  refuseMissing(name: NameOf<Members>, hint?: string): void {
    this.refuse(name, expectedOf(this.schemaOf(name)), 'none', hint)
  }

  /**
   * The right options, and the defaults of the others. Each is an own property, given or not: a
   * property of Object.prototype is no option.
   */
  get right(): Partial<Static<TObject<Members>>> {
    const own: unknown[][] = []
    for (const [name, member] of Object.entries(this.#members)) {
      const fallback: unknown = Object.hasOwn(member, 'default') ? member.default : undefined
      const value = this.#values.has(name) ? this.#values.get(name) : fallback
      // The application may change its own list.
      own.push([name, Array.isArray(value) ? Object.freeze([...value]) : value])
    }
    // `take` has checked what is given. Types cannot say which value is behind which name.
    return Object.fromEntries(own)
  }

  /** The same, if no required option is missing or wrong. */
  get whole(): Static<TObject<Members>> {
    const values = this.right
    if (isWhole(values, this.#members)) return values
    throw new TypeError('a required option is missing')
  }

  /** @throws ERR_AUTH_CONFIG_INVALID that lists all problems */
  finish(): Static<TObject<Members>> {
    for (const name of namesOf(this.#members)) {
      const schema = this.schemaOf(name)
      const isRequired = !isOptional(schema) && !Object.hasOwn(schema, 'default')
      if (isRequired && !this.has(name)) this.refuseMissing(name)
    }
    this.#problems.throwIfAny()
    return this.whole
  }
}

/** True: none is missing. `take` has checked those that are there, and defaults are right. */
function isWhole<Members extends TProperties>(
  values: Partial<Static<TObject<Members>>>,
  members: Members,
): values is Static<TObject<Members>> {
  const schema: TSchema = Type.Object(members)
  const required: readonly string[] = Object.hasOwn(schema, 'required') ? schema['required'] : []
  const own = new Map<string, unknown>(Object.entries(values))
  for (const name of required) if (own.get(name) === undefined) return false
  return true
}

/** The place of an option that is given in code. */
export function inCode(key: string): Source {
  return { key, where: 'option' }
}

export function entryPointOptions<Members extends TProperties>(
  name: string,
  given: unknown,
  members: Members,
): OptionReader<Members> {
  const placeOf = (key: string): Source => ({ key, where: `${name}()` })
  const reader = new OptionReader(members, placeOf, new Problems())
  reader.takeObject(given, placeOf('options'))
  return reader
}

function isAllowed(schema: TSchema, value: unknown): boolean {
  // Spreading turns the holes of a sparse array into `undefined`, which `every` checks.
  return isRight(schema, Array.isArray(value) ? [...value] : value)
}

function expectedOf(schema: TSchema): string {
  return String(ownProperty(schema, 'expected'))
}

/** The cure of a common mistake; undefined: it is another one. */
function hintOf(schema: TSchema, value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '' && isAllowed(schema, Number(value))) {
    return 'this is a text; Number(…) makes a number of it'
  }
  const hint = ownProperty(schema, 'hint')
  return typeof hint === 'function' ? hint(value) : undefined
}

/** The keys of a set; the reason why it cannot be used; undefined if it is no object. */
function readKeys(keys: unknown): KeySet | string | undefined {
  if (typeof keys !== 'object' || keys === null) return undefined
  try {
    const copy: object = JSON.parse(JSON.stringify(keys))
    if (!isPlainData(keys)) return 'it is made of other than plain objects and lists'
    const members = ownProperty(copy, 'keys')
    return Array.isArray(members) && members.length === 0 ? NO_KEYS : readKeySet(copy)
  } catch (error) {
    return error instanceof Unusable ? error.message : 'it cannot be read'
  }
}

/** Names of the members that schemas describe, in their order. */
export function namesOf<Members extends TProperties>(members: Members): NameOf<Members>[] {
  return Object.keys(members).filter((name) => isNameOf(members, name))
}

export function isNameOf<Members extends TProperties>(
  members: Members,
  name: string,
): name is NameOf<Members> {
  return Object.hasOwn(members, name)
}

export type NameOf<Members extends TProperties> = keyof Members & string
