import type { Given } from './check-value.ts'
import { refuseUnknown } from './check-value.ts'
import type { IniEntry, IniSection } from './ini-file.ts'
import { ISSUER_KEYS, readIniText, snakeCase, writtenText } from './ini-values.ts'
import { Rules } from './issuer-rules.ts'
import type { Problems, Source } from './problems.ts'
import { WrittenIssuer } from './written-issuer.ts'

/** The sections `[auth.NAME]` of an INI file, each of which is an issuer. */
export class IssuerSections {
  readonly #problems: Problems
  readonly #issuers: WrittenIssuer[] = []
  #first: Source | undefined

  constructor(problems: Problems) {
    this.#problems = problems
  }

  take(line: IniSection | IniEntry): void {
    if (line.kind === 'section') this.#enter(line)
    else this.#read(line)
  }

  /** What they say together; null where there is no such section. */
  get given(): (Given<'issuers'> & { issuers: readonly WrittenIssuer[] }) | null {
    if (this.#first === undefined) return null
    const issuers = this.#issuers
    const value = issuers.map(({ rules }) => rules)
    return { name: 'issuers', value, written: value, source: this.#first, issuers }
  }

  #enter({ section, where }: IniSection): void {
    const source = { key: `[${section}]`, where }
    this.#first ??= source
    const issuer = new WrittenIssuer(
      (member) => ({ key: `[${section}] ${snakeCase(member)}`, where }),
      this.#problems,
    )
    const name = section.slice('auth.'.length)
    issuer.take({ name: 'name', value: name, written: name, source })
    this.#issuers.push(issuer)
  }

  #read({ key, text, where }: IniEntry): void {
    const source = { key, where }
    const name = ISSUER_KEYS.get(key)
    if (name === undefined) {
      refuseUnknown(key, [...ISSUER_KEYS.keys()], { source, value: text }, this.#problems)
      return
    }
    const value = readIniText(Rules.properties[name], text)
    this.#issuers.at(-1)?.take({ name, value, written: writtenText(text), source })
  }
}
