/** A fenced block of code, and the file that the comment above it names. */
export interface CodeBlock {
  readonly language: string
  readonly text: string
  readonly file: string | undefined
}

const BLOCK = /(?:^<!-- (\S+) -->\n)?^```(\w*)\n(.*?)^```$/gms

export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(BLOCK)].map(([, file, language = '', text = '']) => ({
    language,
    text,
    file,
  }))
}

/** The rows, without its head, of the table under a heading whose head has this first cell. */
export function tableRows(markdown: string, heading: string, firstCell: string): string[][] {
  const lines = sectionOf(markdown, heading).split('\n')
  const head = lines.findIndex((line) => cellsOf(line)[0] === firstCell)
  if (head === -1) throw new Error(`no table ${firstCell} under ${heading}`)
  const rest = lines.slice(head + 2)
  const end = rest.findIndex((line) => !line.startsWith('|'))
  return rest.slice(0, end === -1 ? undefined : end).map(cellsOf)
}

/** The items of all lists under a heading, or of the whole page, each as one line. */
export function listItems(markdown: string, heading?: string): string[] {
  const text = heading === undefined ? markdown : sectionOf(markdown, heading)
  const lists = text.matchAll(/^- (.*(?:\n {2}\S.*)*)/gm)
  return [...lists].map(([, item = '']) => item.replaceAll(/\n {2}/g, ' '))
}

/** The text under a heading of the second level. */
export function sectionOf(markdown: string, heading: string): string {
  const [, section] = markdown.split(new RegExp(`^## ${heading}$`, 'm'))
  if (section === undefined) throw new Error(`no section ${heading}`)
  return section.split(/^## /m)[0] ?? ''
}

/** Headings of the second level, in their order. */
export function headings(markdown: string): string[] {
  return [...markdown.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)
}

/** The targets of the links of a text, as they stand there. */
export function linkTargets(markdown: string): string[] {
  const prose = markdown.replaceAll(BLOCK, '')
  return [...prose.matchAll(/\[[^\]]+\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
}

/** What a link may name behind `#`: each heading as GitHub writes it in an address. */
export function anchors(markdown: string): string[] {
  const prose = markdown.replaceAll(BLOCK, '')
  const seen = new Map<string, number>()
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    return times === 0 ? slug : `${slug}-${times}`
  })
}

/** `\|` is a bar within a cell. */
function cellsOf(line: string): string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** Lines without the indentation that all of them share. */
export function dedent(text: string): string {
  const lines = text.split('\n')
  const indents = lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length)
  const shared = Math.min(...indents)
  return lines.map((line) => line.slice(shared)).join('\n')
}
