import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { escapeHtml, matrixPage } from '../../../../lib/entrypoints/cli/policy/matrix-page.ts'
import { listed, matrixOf, unknown } from '../../../helpers/app/listed.ts'

const ROUTES = [
  listed('/a', { tenant: 'path', require: { any: ['menu:read', 'menu:edit'] } }),
  listed('/b', { guests: true, tenant: 'optional' }),
  unknown('/c'),
  listed('/hook', { noauth: true, check: ['signature'] }),
  listed('/open', { noauth: true }),
  listed('/open', { method: 'HEAD', noauth: true }),
]
const PAGE = matrixPage(matrixOf([ROUTES]))

test('open routes stand first, then those that may be open, then those of guests', () => {
  const rows = [...PAGE.matchAll(/<code>(.*?)<\/code><\/th><td>(.*?)</g)]
  assert.deepEqual(
    rows.map(([, url, who]) => `${url} ${who}`),
    [
      '/open everybody',
      '/hook open, checked by signature',
      '/c not known',
      '/b guests, users',
      '/a users',
    ],
  )
  assert.match(PAGE, /<caption>Routes: 5 rows, 2 of them open</)
})

test('a row says its methods, and what the filter needs: the place of the tenant and the ids', () => {
  assert.match(PAGE, /<tr class="open" data-tenant="none" data-ids=""><td>GET, HEAD<\/td>/)
  assert.match(PAGE, /<tr data-tenant="path" data-ids="menu:read&#10;menu:edit">.*<code>\/a</)
  assert.match(PAGE, /<tr data-tenant="not known" data-ids="">.*<code>\/c</)
})

test('the page loads nothing and has no handler, form or style outside of its own elements', () => {
  assert.doesNotMatch(PAGE, /<[^>]*\s(?:on\w+|src|href|action|style)\s*=|@import|url\(|<form/i)
  assert.equal(PAGE.match(/<script/g)?.length, 1)
})

test('its policy of content security allows its own style and script alone, by their hashes', () => {
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="(.*?)"/.exec(PAGE) ?? []
  const hashOf = (name: string) => {
    const [, text = ''] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(PAGE) ?? []
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  }
  assert.deepEqual(policy.split('; '), [
    "default-src 'none'",
    `script-src ${hashOf('script')}`,
    `style-src ${hashOf('style')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ])
  assert.ok(PAGE.indexOf('http-equiv') < PAGE.indexOf('<style'), 'it stands before what it governs')
})

test('without its script the page has every row, and no filter that does nothing', () => {
  assert.match(PAGE, /<div role="search" aria-label="Filter" hidden>/)
  assert.doesNotMatch(PAGE, /<tr[^>]* hidden/)
})

/** A text of an application, and how the page writes it. */
const TEXTS: readonly [text: string, html: string][] = [
  ['/<script>alert(1)</script>', '/&#60;script&#62;alert(1)&#60;/script&#62;'],
  ['/</style></code>', '/&#60;/style&#62;&#60;/code&#62;'],
  ['/<!--]]>', '/&#60;!--]]&#62;'],
  [`/" onload='x'`, '/&#34; onload=&#39;x&#39;'],
  ['/&lt;&#60;', '/&#38;lt;&#38;#60;'],
  ['/a\u0000\u001b[31m\r\n', '/a\\u0000\\u001b[31m\\u000d\\u000a'],
  ['/\u202eb\u200b\ufeff', '/\\u202eb\\u200b\\ufeff'],
  ['/\ud800é', '/\\ud800é'],
  ['/$&$1`', '/$&#38;$1`'],
]

/** What is markup on a page: its tags with their attributes, without texts. */
function markup(page: string): string[] {
  return page.match(/<[^>]*>/g)?.map((tag) => tag.replace(/data-ids="[^"]*"/, '')) ?? []
}

/** A page with the text in each place that a text of an application or of a file can have. */
function pageWith(text: string): string {
  const constraints = { [text]: text }
  const routes = [
    listed(text, { method: text, tenant: 'path', require: [text], check: [text], constraints }),
    listed(`/open${text}`, { noauth: true, check: [text] }),
    listed('~', { stepUp: { acr: [text], maxAge: null } }),
  ]
  const difference = { effect: 'opens', route: text, text } as const
  const check = { summary: text, differences: [difference] }
  return matrixPage(matrixOf([routes], [{ [text]: [text] }]), check)
}

for (const [text, html] of TEXTS) {
  test(`${JSON.stringify(text)} is text on the page, in each place`, () => {
    const page = pageWith(text)
    assert.deepEqual(markup(page), markup(pageWith('/x')))
    for (const place of [
      `<p>${html}</p>`,
      `<li><code>${html}</code>: ${html}</li>`,
      `data-ids="${html}"><td>${html}</td>`,
      `<code>${html} (`,
      `<td>${html}; check ${html}</td>`,
      `<td>open, checked by ${html}</td>`,
      `<td>login acr ${html}</td>`,
      `<li>${html} implies ${html}</li>`,
    ]) {
      assert.ok(page.includes(place), place)
    }
  })
}

test('no character of markup is left in an escaped text', () => {
  assert.equal(escapeHtml(`&<>"'`), '&#38;&#60;&#62;&#34;&#39;')
})

test('what opened stands before what closed, and that before other changes', () => {
  const differences = (['changes', 'closes', 'opens'] as const).map((effect) => ({
    effect,
    route: `GET /${effect}`,
    text: 'x',
  }))
  const page = matrixPage(matrixOf([ROUTES]), { summary: 'it does not hold', differences })
  assert.deepEqual(
    [...page.matchAll(/<h2>(.*?)<\/h2>|<li><code>(.*?)</g)].map(
      ([, title, place]) => title ?? place,
    ),
    [
      'Opened: 1',
      'GET /opens',
      'Closed: 1',
      'GET /closes',
      'Changed otherwise: 1',
      'GET /changes',
      'Routes',
    ],
  )
})

test('each of several applications has a title, and the ids that imply others', () => {
  const page = matrixPage(matrixOf([[listed('/a')], []], [{ 'a:c': ['a:b'] }, undefined]))
  assert.match(page, /<h2>Application 1<.*<li>a:c implies a:b<.*<h2>Application 2</s)
  assert.match(page, /<caption>Application 2: 0 rows, 0 of them open</)
})
