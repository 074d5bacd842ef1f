import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SCRATCH } from './compiled.ts'

/** Texts by their keys that later runs find again, each in a file of its own. */
export class Notebook<T> {
  readonly #folder: string

  constructor(name: string) {
    this.#folder = join(SCRATCH, name)
  }

  read(key: string): T | undefined {
    try {
      return JSON.parse(readFileSync(this.#pathOf(key), 'utf8'))
    } catch {
      return undefined
    }
  }

  write(key: string, value: T): void {
    const path = this.#pathOf(key)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify(value))
  }

  #pathOf(key: string): string {
    return join(this.#folder, key.slice(0, 2), `${key}.json`)
  }
}
