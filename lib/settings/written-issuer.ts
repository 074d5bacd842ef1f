import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { checkValue, type Given, refuseUnknown } from './check-value.ts'
import {
  type IssuerMember,
  type IssuerRules,
  isIssuerMember,
  issuerMembers,
  type ListedIssuer,
  Rules,
} from './issuer-rules.ts'
import { ownMembers } from './own-members.ts'
import type { Problems, Source } from './problems.ts'

/** The rules of one issuer as somebody wrote them, member by member. */
export class WrittenIssuer {
  readonly #placeOf: (member: string) => Source
  readonly #problems: Problems
  readonly #sources = new Map<IssuerMember, Source>()
  readonly #values = new Map<IssuerMember, unknown>()

  /** @param placeOf the place of a member that nobody wrote */
  constructor(placeOf: (member: string) => Source, problems: Problems) {
    this.#placeOf = placeOf
    this.#problems = problems
  }

  /** @param self the place of the rules themselves */
  static ofObject(
    rules: object,
    self: Source,
    placeOf: (member: string) => Source,
    problems: Problems,
  ): WrittenIssuer {
    const written = new WrittenIssuer(placeOf, problems)
    for (const [name, value] of ownMembers(rules, self, placeOf, problems)) {
      const source = placeOf(name)
      if (isIssuerMember(name)) written.take({ name, value, written: value, source })
      else refuseUnknown(name, issuerMembers(), { source, value }, problems)
    }
    return written
  }

  /** Takes a member. What is wrong with it is told. */
  take(given: Given<IssuerMember>): void {
    this.#sources.set(given.name, given.source)
    const schema = Rules.properties[given.name]
    if (checkValue(schema, given, this.#problems)) this.#values.set(given.name, given.value)
  }

  /** Whether somebody wrote the member, right or wrong. */
  has(member: IssuerMember): boolean {
    return this.#sources.has(member)
  }

  sourceOf(member: IssuerMember): Source {
    return this.#sources.get(member) ?? this.#placeOf(member)
  }

  /** The members that are right. */
  get rules(): Partial<IssuerRules> {
    const values = this.#ownValues()
    Value.Assert(Right, values)
    return values
  }

  /** All members, where nothing is wrong, nor missing. */
  get listed(): ListedIssuer {
    const values = this.#ownValues()
    Value.Assert(Listed, values)
    return values
  }

  /** Each is an own property, given or not: what is added to Object.prototype is no member. */
  #ownValues(): unknown {
    return Object.fromEntries(issuerMembers().map((name) => [name, this.#values.get(name)]))
  }
}

const Right = Type.Partial(Rules)

const Listed = Type.Object({ ...Rules.properties, issuer: Type.String() })
