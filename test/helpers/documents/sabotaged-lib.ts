import assert from 'node:assert/strict'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from './temp-folder.ts'

// The copies are sources, also where the tests are compiled.

/** A file of lib/, a text in it, and what stands there instead. */
export type Replacement = readonly [file: string, text: string, instead: string]

/** Makes copies of lib/ that lack something, for one test file. Gives the folder of each. */
export function sabotagedLibs(): (replacements: readonly Replacement[]) => string {
  const { path } = tempFolder()
  writeFileSync(join(path, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(process.cwd(), 'node_modules'), join(path, 'node_modules'))
  let copies = 0
  return (replacements) => {
    copies += 1
    const lib = join(path, `lib-${copies}`)
    cpSync('lib', lib, { recursive: true })
    for (const [file, text, instead] of replacements) {
      const whole = readFileSync(join(lib, file), 'utf8')
      assert.equal(whole.split(text).length, 2, `once in ${file}: ${text}`)
      writeFileSync(
        join(lib, file),
        whole.replace(text, () => instead),
      )
    }
    return lib
  }
}
