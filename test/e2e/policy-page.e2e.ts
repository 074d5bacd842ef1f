import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { matrixPage } from '../../lib/entrypoints/cli/policy/matrix-page.ts'
import { listed, matrixOf } from '../helpers/app/listed.ts'
import { chromiumOptions, noChromium } from '../helpers/processes/chromium.ts'

const ODD = '/<img src=x onerror="document.title=1">"\'</script><script>document.title=2</script>'
const ROUTES = [
  listed('/:tenant/menu', { tenant: 'path', require: ['menu:read'] }),
  listed('/orders', {
    method: 'POST',
    tenant: 'query',
    require: { any: ['order:edit', 'menu:all'] },
  }),
  listed(ODD, { require: ['</td><script>document.title=3</script>'] }),
  listed('/health', { noauth: true }),
]
const CHECK = {
  summary: 'policy.json does not hold',
  differences: [{ effect: 'opens', route: 'GET /health', text: 'was guarded, is open' }],
} as const
const HTML = matrixPage(matrixOf([ROUTES]), CHECK)

/** Markup such as an escape that was forgotten would let in. */
const INTRUDED = `<main><script>document.title = 'script'</script>
<style>main { display: none }</style><p style="color: red" onclick="document.title = 'handler'">x</p>
<img src="https://a.example/x.png"><iframe src="https://a.example/"></iframe>
<base href="https://a.example/"><link rel="stylesheet" href="https://a.example/x.css">`

const FORBIDDEN = [
  'base-uri',
  'connect-src',
  'frame-src',
  'img-src',
  'script-src-attr',
  'script-src-elem',
  'style-src-attr',
  'style-src-elem',
]

describe('the page of the policy matrix, in a browser', { skip: noChromium }, () => {
  let browser: Browser
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.setHeader('content-type', 'text/html').end(HTML)
  })

  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    browser = await chromium.launch(chromiumOptions)
  })
  after(async () => {
    await browser?.close()
    server.close()
  })

  /** Opens the page, uses it, and holds that it asked nobody and kept to its policy. */
  async function withPage(use: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const [requests, said]: [string[], string[]] = [[], []]
    asked.length = 0
    page.on('request', (request) => requests.push(request.url()))
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(error.message))
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    await page.goto(address)
    await use(page)
    assert.equal(await page.title(), 'Who may use each route')
    assert.deepEqual([requests, asked, said], [[address], ['/'], []])
    await context.close()
  }

  const urls = (page: Page) => page.locator('tbody tr:visible th').allTextContents()

  it('has a row for each route, open ones first, with their texts as they are', async () => {
    await withPage(async (page) => {
      assert.deepEqual(await urls(page), ['/health', '/:tenant/menu', ODD, '/orders'])
      assert.equal(await page.locator('img, tbody script').count(), 0)
      assert.equal(await page.locator('.opens li').innerText(), 'GET /health: was guarded, is open')
    })
  })

  it('filters by route, tenant and resource, with the keyboard alone', async () => {
    await withPage(async (page) => {
      const press = (key: string) => page.keyboard.press(key)
      await press('Tab')
      await page.keyboard.type('MENU')
      // The Enter key sends nothing.
      await press('Enter')
      assert.deepEqual(await urls(page), ['/:tenant/menu'])
      assert.equal(await page.getByRole('status').innerText(), '1 of 4 rows')
      await press('Escape')
      await press('Tab')
      await page.keyboard.type('query')
      assert.deepEqual(await urls(page), ['/orders'])
      await press('Home')
      await press('Tab')
      await page.keyboard.type('menu:')
      assert.deepEqual(await urls(page), ['/:tenant/menu', '/orders'])
      await press('Shift+Tab')
      await press('Home')
      await press('ArrowDown')
      assert.deepEqual(await urls(page), ['/:tenant/menu'])
    })
  })

  it('names its filter, inputs, table, columns and rows for a screen reader', async () => {
    await withPage(async (page) => {
      const filter = page.getByRole('search', { name: 'Filter' })
      for (const name of ['Route', 'Required resource']) {
        assert.equal(await filter.getByRole('searchbox', { name, exact: true }).count(), 1, name)
      }
      assert.equal(await filter.getByRole('combobox', { name: 'Tenant' }).count(), 1)
      const table = page.getByRole('table', { name: 'Routes: 4 rows, 1 of them open' })
      assert.equal(await table.getByRole('columnheader').count(), 6)
      assert.equal(await table.getByRole('rowheader', { name: '/health' }).count(), 1)
    })
  })

  it('has every row on paper, though a filter is on, and no filter', async () => {
    await withPage(async (page) => {
      await page.getByLabel('Route').fill('health')
      assert.equal((await urls(page)).length, 1)
      await page.emulateMedia({ media: 'print' })
      assert.equal((await urls(page)).length, 4)
      assert.equal(await page.getByRole('search').isVisible(), false)
    })
  })

  it('breaks no name of a column, and no word of a cell but urls and resources', async () => {
    await withPage(async (page) => {
      await page.setViewportSize({ width: 900, height: 700 })
      const rows = page.locator('tr', { hasText: /^(?:method|GET.health)/ })
      const [head = 0, health = 0] = await rows.evaluateAll((found) =>
        found.map(({ clientHeight }) => clientHeight),
      )
      assert.ok(Math.abs(head - health) <= 2, `heights of rows with one line: ${head}, ${health}`)
    })
  })

  it('is whole without scripts', async () => {
    const use = async (page: Page) => {
      assert.equal((await urls(page)).length, 4)
      assert.equal(await page.getByRole('search').isVisible(), false)
    }
    await withPage(use, { javaScriptEnabled: false })
  })

  it('lets no other script, style, image, frame or request in', async () => {
    const page = await browser.newPage()
    const requests: string[] = []
    await page.addInitScript(`globalThis.violated = []
      addEventListener('securitypolicyviolation', (event) => violated.push(event.effectiveDirective))`)
    // What the policy stops does not come so far.
    await page.route('**/*', (route) => {
      requests.push(route.request().url())
      return route.fulfill({ contentType: 'text/html', body: HTML.replace('<main>', INTRUDED) })
    })
    await page.goto('http://policy.example/')
    await page.getByText('x', { exact: true }).click()
    await page.evaluate(`fetch('https://a.example/').catch(() => {})`)
    assert.equal(await page.title(), 'Who may use each route')
    assert.deepEqual(new Set(await page.evaluate<string[]>('violated.sort()')), new Set(FORBIDDEN))
    assert.deepEqual(requests, ['http://policy.example/'])
    await page.close()
  })
})
