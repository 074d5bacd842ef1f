import type { Problems } from './problems.ts'
import { isOurs, meantSection, OUR_SECTIONS, type SectionName } from './section-name.ts'
import { showName } from './shown-value.ts'

/** The sections of one INI file, line by line. */
export class IniSections {
  readonly #problems: Problems
  readonly #seen = new Set<string>()
  #current: SectionName | 'top' | 'other' = 'top'

  constructor(problems: Problems) {
    this.#problems = problems
  }

  /** Whose the lines are that follow: above all sections `top`, of the application `other`. */
  get current(): SectionName | 'top' | 'other' {
    return this.#current
  }

  get hasOurs(): boolean {
    return this.#seen.size > 0
  }

  enter(name: string, where: string): void {
    this.#current = isOurs(name) ? name : 'other'
    if (isOurs(name)) this.#enterOurs(name, where)
    else this.#enterOther(name, where)
  }

  enterBroken(where: string): void {
    this.#current = 'other'
    this.#problems.add({ key: 'a section', where }, '[name]', 'a broken section line')
  }

  #enterOurs(name: SectionName, where: string): void {
    if (this.#seen.has(name)) {
      this.#problems.add({ key: `[${name}]`, where }, 'it once', 'it again')
    }
    this.#seen.add(name)
  }

  #enterOther(name: string, where: string): void {
    const meant = meantSection(name)
    if (meant === undefined) return
    const found = `[${showName(name)}]`
    this.#problems.add({ key: 'a section', where }, OUR_SECTIONS, found, `did you mean [${meant}]?`)
  }
}
