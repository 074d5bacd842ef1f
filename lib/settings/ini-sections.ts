import type { Problems } from './problems.ts'
import {
  isOurs,
  OUR_SECTIONS,
  type Resemblance,
  resemblanceOf,
  type SectionName,
} from './section-name.ts'
import { showName } from './shown-value.ts'

/** A section that is the application's only if ours stands in the file too. */
interface Doubtful extends Resemblance {
  readonly name: string
  readonly where: string
}

/** The sections of one INI file, line by line. */
export class IniSections {
  readonly #problems: Problems
  readonly #seen = new Set<string>()
  readonly #doubtful: Doubtful[] = []
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

  /** At the end of the file, where it is known which sections it has. */
  leave(): void {
    for (const { name, where, ours } of this.#doubtful) {
      if (this.#seen.has(ours)) continue
      const exception = `An application may have it beside a section [${ours}], an empty one too`
      const hint = `did you mean [${ours}]? ${exception}`
      this.#refuse(name, where, hint)
    }
  }

  #enterOurs(name: SectionName, where: string): void {
    if (this.#seen.has(name)) {
      this.#problems.add({ key: `[${name}]`, where }, 'it once', 'it again')
    }
    this.#seen.add(name)
  }

  #enterOther(name: string, where: string): void {
    const resemblance = resemblanceOf(name)
    if (resemblance?.by === 'letter') this.#doubtful.push({ ...resemblance, name, where })
    if (resemblance?.by === 'spelling') {
      this.#refuse(name, where, `did you mean [${resemblance.ours}]?`)
    }
  }

  #refuse(name: string, where: string, hint: string): void {
    const found = `[${showName(name)}]`
    this.#problems.add({ key: 'a section', where }, OUR_SECTIONS, found, hint)
  }
}
