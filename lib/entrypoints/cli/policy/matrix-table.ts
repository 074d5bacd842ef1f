import { visible } from '../../../config/redact.ts'
import { placeWords } from '../../../routes/route-constraints.ts'
import type { ConstrainedRoute } from '../../../routes/route-list.ts'
import { groupBy } from './diff-matrix.ts'
import { checkWords, loginWords, requirementWords } from './diff-route.ts'
import { type MatrixApplication, orderedImplies, type PolicyMatrix } from './matrix.ts'

/** A route's methods, its url, and who may: cells for people to read. */
export type Row = readonly [methods: string, url: string, who: string, ...more: string[]]

export const HEAD: Row = ['method', 'url', 'who may', 'tenant', 'require', 'receives']

export const EVERYBODY = 'everybody'

/** Open, and something else than a token decides. */
export const CHECKED = 'open, checked by '

export const NOT_KNOWN = 'not known'

interface Format {
  /** Before a title. */
  readonly mark: string
  linesOf(rows: readonly Row[]): readonly string[]
  /** The line of an id and what it implies. */
  arrowLine(arrow: string): string
}

export function matrixTable(matrix: PolicyMatrix, highlight: (line: string) => string): string {
  const linesOf = (rows: readonly Row[]) => {
    const widths = HEAD.map((_head, column) =>
      Math.max(...rows.map((row) => String(row[column]).length)),
    )
    return rows.map((row) => {
      const line = row.map((cell, column) => cell.padEnd(Number(widths[column]))).join('  ')
      return row[2] === EVERYBODY || row[2].startsWith(CHECKED)
        ? highlight(line.trimEnd())
        : line.trimEnd()
    })
  }
  return sections(matrix, { mark: '', linesOf, arrowLine: (arrow) => arrow })
}

/** A table in Markdown, for a page or the summary of a workflow. */
export function matrixMarkdown(matrix: PolicyMatrix): string {
  const linesOf = ([head = HEAD, ...rows]: readonly Row[]) => {
    const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
    const body = rows.map(([methods, url, ...cells]) => [
      escapeMarkdown(methods),
      codeCell(url),
      ...cells.map(escapeMarkdown),
    ])
    return [head, head.map(() => '---'), ...body].map(lineOf)
  }
  const arrowLine = (arrow: string) => `- ${escapeMarkdown(arrow)}`
  return sections(matrix, { mark: '### ', linesOf, arrowLine })
}

function sections({ applications }: PolicyMatrix, format: Format): string {
  const isOne = applications.length === 1
  const texts = applications.map((application, index) => {
    const title = isOne ? [] : [`${format.mark}Application ${index + 1}`, '']
    const arrows = arrowsOf(application).map(format.arrowLine)
    const below = arrows.length === 0 ? [] : ['', ...arrows]
    const rows = [HEAD, ...rowsOf(application).map(({ row }) => row)]
    return [...title, ...format.linesOf(rows), ...below, ''].join('\n')
  })
  return texts.join('\n')
}

/** The implications: `menu:edit implies menu:read`. */
export function arrowsOf({ implies = {} }: MatrixApplication): string[] {
  return orderedImplies(implies).map(([id, ids]) => visible(`${id} implies ${ids.join(', ')}`))
}

/**
 * Routes of one url that differ in their methods alone share a row: GET has its twin HEAD.
 *
 * @returns each row with one of its routes
 */
export function rowsOf({ routes }: MatrixApplication) {
  const groups = groupBy(routes, (route) => JSON.stringify(cellsOf(route)))
  return [...groups.values()].flatMap((group) => {
    const methods = [...new Set(group.map(({ method }) => method))].join(', ')
    return group.slice(0, 1).map((route) => {
      const row: Row = [visible(methods), ...cellsOf(route)]
      return { route, row }
    })
  })
}

function cellsOf(route: ConstrainedRoute): readonly [url: string, who: string, ...more: string[]] {
  const { noauth, tenant, require, userInfo, resources, authorization } = route
  const url = visible(placeWords(route))
  if (noauth === null) return [url, NOT_KNOWN, '', '', '']
  const required = require === null ? [] : [requirementWords(route)]
  const checks = route.check === undefined || noauth ? [] : [`check ${checkWords(route)}`]
  const anybody = route.check === undefined ? EVERYBODY : visible(CHECKED + checkWords(route))
  const bound = route.confirmation === undefined ? [] : ['a bound token']
  const login = route.stepUp === undefined ? [] : [`login ${loginWords(route)}`]
  const receives = Object.entries({ userInfo, resources, authorization })
  return [
    url,
    noauth ? anybody : route.guests ? 'guests, users' : 'users',
    `${tenant ?? ''}${route.suspended ? ', suspended too' : ''}${route.late ? ', late' : ''}`,
    visible([...required, ...checks, ...bound, ...login].join('; ')),
    receives.flatMap(([name, isDeclared]) => (isDeclared ? [name] : [])).join(', '),
  ]
}

/** The characters of markup in Markdown, and in HTML, which Markdown may hold. */
const MARKS = /[\\`*_{}[\]<>#|~!&$]/g

/** Text that Markdown shows as it is, in the cell of a table too. */
export function escapeMarkdown(text: string): string {
  return text.replace(MARKS, '\\$&')
}

/** A code span whose fence is longer than any run of backticks in the text. */
export function code(text: string): string {
  const runs = text.match(/`+/g) ?? []
  const fence = '`'.repeat(1 + Math.max(0, ...runs.map(({ length }) => length)))
  const pad = runs.length > 0 ? ' ' : ''
  return `${fence}${pad}${text}${pad}${fence}`
}

/**
 * Code in the cell of a table. A bar there has a backslash before it, which a span of code does not
 * distinguish from one of the text. HTML does.
 */
export function codeCell(text: string): string {
  if (!text.includes('\\|')) return code(text).replaceAll('|', '\\|')
  const entities = text.replace(/\W/gu, (character) => `&#${character.codePointAt(0)};`)
  return `<code>${entities}</code>`
}
