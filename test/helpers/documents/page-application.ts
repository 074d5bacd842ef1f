import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeBlocks } from './markdown.ts'
import { guide } from './pages.ts'

/** Guides that are whole applications. Tests build each from the page alone. */
export const PAGE_APPLICATIONS = ['guides/saas-backend', 'guides/sessions-and-roles'] as const

/**
 * Writes the blocks that a file is named for, as a reader saves them.
 *
 * @param name one of `PAGE_APPLICATIONS`
 * @param folder an empty one
 */
export function writeApplication(name: string, folder: string) {
  const page = guide(name)
  const files = codeBlocks(page).flatMap(({ file, text }) =>
    file === undefined ? [] : [{ file, text }],
  )
  for (const { file, text } of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  return { page, files }
}
