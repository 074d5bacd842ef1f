import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = '.github/docs'

/** What an application's author reads: README.md first, then a page for each subject. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${FOLDER}/${name}`),
]

/** With those that contributors and reporters read. */
export const ALL_PAGES: readonly string[] = [
  ...PAGES,
  '.github/CONTRIBUTING.md',
  '.github/SECURITY.md',
  '.github/PULL_REQUEST_TEMPLATE.md',
]

/** The text of a page of `.github/docs`, such as `reference/errors`. */
export function guide(name: string): string {
  return readFileSync(`${FOLDER}/${name}.md`, 'utf8')
}
