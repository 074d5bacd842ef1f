import { hash } from 'node:crypto'
import { visible } from '../../../config/redact.ts'
import type { Difference } from './diff-matrix.ts'
import { type Effect, idsOf } from './diff-route.ts'
import type { MatrixApplication, PolicyMatrix } from './matrix.ts'
import { arrowsOf, CHECKED, EVERYBODY, HEAD, NOT_KNOWN, type Row, rowsOf } from './matrix-table.ts'

interface PageCheck {
  /** A sentence: the file holds, or does not. */
  readonly summary: string
  readonly differences: readonly Difference[]
}

/**
 * One page of HTML that loads nothing. Its policy forbids all but its own style and script. The
 * script is constant: no text of an application is ever in it, nor in an address or a handler.
 *
 * @param check shown above the matrix; absent: there was none
 */
export function matrixPage({ applications }: PolicyMatrix, check?: PageCheck): string {
  const isOne = applications.length === 1
  const sections = applications.map((application, index) =>
    applicationHtml(application, isOne ? 'Routes' : `Application ${index + 1}`),
  )
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${CONTENT_SECURITY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Who may use each route</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Who may use each route</h1>
${check === undefined ? '' : checkHtml(check)}${FILTER}
${sections.join('\n')}
</main>
<footer>
<p>Open routes stand first: <q>everybody</q> needs no token, nor does who is <q>checked</q>. A route
that is <q>not known</q> was written before the plugin. Not on this page: what no guard covers, the
settings, dev mode and superusers.</p>
</footer>
<script>${SCRIPT}</script>
</body>
</html>
`
}

const GROUPS: readonly (readonly [effect: Effect, title: string])[] = [
  ['opens', 'Opened'],
  ['closes', 'Closed'],
  ['changes', 'Changed otherwise'],
]

function checkHtml({ summary, differences }: PageCheck): string {
  const groups = GROUPS.map(([effect, title]) => {
    const items = differences
      .filter((each) => each.effect === effect)
      .map(({ route, text }) => `<li><code>${shown(route)}</code>: ${shown(text)}</li>`)
    const list = items.length === 0 ? '<p>Nothing.</p>' : `<ul>\n${items.join('\n')}\n</ul>`
    return `<section class="${effect}">\n<h2>${title}: ${items.length}</h2>\n${list}\n</section>\n`
  })
  return `<p>${shown(summary)}</p>\n${groups.join('')}`
}

function applicationHtml(application: MatrixApplication, title: string): string {
  const rows = rowsOf(application).sort((a, b) => rank(a.row) - rank(b.row))
  const open = rows.filter(({ row }) => isOpen(row)).length
  const head = HEAD.map((name) => `<th scope="col">${name}</th>`).join('')
  const arrows = arrowsOf(application).map((arrow) => `<li>${escapeHtml(arrow)}</li>\n`)
  const implied = arrows.length === 0 ? '' : `<ul>\n${arrows.join('')}</ul>\n`
  return `<section>
<h2>${title}</h2>
<table>
<caption>${title}: ${rows.length} rows, ${open} of them open</caption>
<thead>
<tr>${head}</tr>
</thead>
<tbody>
${rows.map(rowHtml).join('\n')}
</tbody>
</table>
${implied}</section>`
}

function rowHtml({ route, row }: ReturnType<typeof rowsOf>[number]): string {
  const [methods, url, ...cells] = row.map(escapeHtml)
  const tenant = route.noauth === null ? NOT_KNOWN : (route.tenant ?? 'none')
  // No input of the filter can hold a line break, so that none matches two ids.
  const ids = idsOf(route.require).map(shown).join('&#10;')
  const open = isOpen(row) ? ' class="open"' : ''
  const more = cells.map((cell) => `<td>${cell}</td>`).join('')
  return `<tr${open} data-tenant="${tenant}" data-ids="${ids}"><td>${methods}</td><th scope="row"><code>${url}</code></th>${more}</tr>`
}

/** The most open rows first: a route that is not known may be any. */
const OPENNESS = [EVERYBODY, CHECKED, NOT_KNOWN, 'guests', '']

function rank([, , who]: Row): number {
  return OPENNESS.findIndex((start) => who.startsWith(start))
}

function isOpen(row: Row): boolean {
  return OPENNESS[rank(row)] === EVERYBODY || OPENNESS[rank(row)] === CHECKED
}

/** Text as it is, with what nobody sees by its number. */
function shown(text: string): string {
  return escapeHtml(visible(text))
}

/** Text that HTML shows as it is, in an element and in an attribute of either quote. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

const TENANTS = ['path', 'query', 'optional', 'none', NOT_KNOWN]

/** Hidden until the script runs. It is no form, so that the Enter key sends nothing. */
const FILTER = `<div role="search" aria-label="Filter" hidden>
<label>Route <input type="search" autocomplete="off" spellcheck="false"></label>
<label>Tenant <select autocomplete="off"><option value="">any</option>${TENANTS.map((place) => `<option>${place}</option>`).join('')}</select></label>
<label>Required resource <input type="search" autocomplete="off" spellcheck="false"></label>
<output></output>
</div>`

/** Paper has every row, because nobody sees there that a filter was on. */
const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.4 system-ui, sans-serif }
body { margin: 1rem auto; max-width: 80rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
caption { text-align: start; padding: .5rem 0 }
th, td { border-bottom: 1px solid; padding: .3rem .6rem; text-align: start; vertical-align: top }
tbody th { font-weight: inherit; width: 25% }
tbody th, td:nth-child(5), li { overflow-wrap: anywhere }
thead th { white-space: nowrap }
code { unicode-bidi: isolate; white-space: pre-wrap }
.open { font-weight: bold }
.open td:first-child, .opens { border-inline-start: .3rem solid #d33; padding-inline-start: .6rem }
.closes { border-inline-start: .3rem solid #292; padding-inline-start: .6rem }
[role=search] { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; padding: 1rem 0 }
[hidden] { display: none }
input, select { font: inherit }
@media print {
  [role=search] { display: none }
  tr[hidden] { display: table-row }
  tr, li { break-inside: avoid }
}
`

const SCRIPT = `
const search = document.querySelector('[role=search]')
const [route, tenant, resource] = search.querySelectorAll('input, select')
const rows = [...document.querySelectorAll('tbody tr')]
const has = (text, { value }) => text.toLowerCase().includes(value.trim().toLowerCase())
const filter = () => {
  for (const row of rows) {
    const place = row.cells[0].textContent + ' ' + row.cells[1].textContent
    const isThere = tenant.value === '' || tenant.value === row.dataset.tenant
    row.hidden = !(isThere && has(place, route) && has(row.dataset.ids, resource))
  }
  const left = rows.filter((row) => !row.hidden).length
  search.querySelector('output').textContent = left + ' of ' + rows.length + ' rows'
}
search.addEventListener('input', filter)
search.hidden = false
filter()
`

const CONTENT_SECURITY = [
  "default-src 'none'",
  `script-src ${hashSource(SCRIPT)}`,
  `style-src ${hashSource(STYLE)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

function hashSource(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`
}
