import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createNotesApp } from '../examples/notes/app.ts'
import { type Authority, startDemoAuthority } from '../examples/notes/authority.ts'
import { chromiumOptions, noChromium } from '../helpers/processes/chromium.ts'

type App = Awaited<ReturnType<typeof createNotesApp>>

describe('the page of the demo, in a browser', { skip: noChromium }, () => {
  let app: App
  let authority: Authority
  let browser: Browser
  let token: string
  const elsewhere: string[] = []

  before(async () => {
    authority = await startDemoAuthority(0)
    token = await authority.tokenOf('bob')
    app = await createNotesApp({ issuer: authority.issuer })
    await app.listen({ port: 0, host: '127.0.0.1' })
    browser = await chromium.launch(chromiumOptions)
  })
  after(async () => {
    await browser?.close()
    await app?.close()
    await authority?.close()
  })

  async function openPage(): Promise<Page> {
    const page = await browser.newPage()
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(app.listeningOrigin) && !url.startsWith('data:')) elsewhere.push(url)
    })
    await page.goto(`${app.listeningOrigin}/docs/`)
    await page.locator('.opblock').first().waitFor()
    return page
  }

  it('opens without a token, and shows which operations need one', async () => {
    const page = await openPage()
    const locks = async (path: string) =>
      operation(page, path).getByRole('button', { name: 'authorization button' }).count()
    assert.equal(await page.locator('.opblock').count(), 5)
    assert.equal(await locks('/notes'), 1)
    assert.equal(await locks('/{tenant}/notes'), 1)
    assert.equal(await locks('/health'), 0)
    await page.close()
  })

  it('gets 401 without a token', async () => {
    const page = await openPage()
    assert.deepEqual(await call(page, '/notes', 'lazy-raccoon'), {
      status: '401',
      code: 'ERR_AUTH_TOKEN_MISSING',
    })
    assert.deepEqual(await call(page, '/health'), { status: '200', code: undefined })
    await page.close()
  })

  it('gets 200 in the tenant of an authorized user, and 403 in another', async () => {
    const page = await openPage()
    await authorize(page, token)
    for (const path of ['/{tenant}/notes', '/notes']) {
      const [ours, theirs] = [
        await call(page, path, 'lazy-raccoon'),
        await call(page, path, 'busy-beaver'),
      ]
      assert.deepEqual(ours, { status: '200', code: undefined }, path)
      assert.deepEqual(theirs, { status: '403', code: 'ERR_AUTH_TENANT_FORBIDDEN' }, path)
    }
    await page.close()
  })

  it('asks only the application', () => {
    assert.deepEqual(elsewhere, [])
  })
})

/** The block of a GET operation on the page. */
function operation(page: Page, path: string) {
  return page.locator('.opblock-get').filter({ has: page.locator(`[data-path="${path}"]`) })
}

/** Does what a user with a token does. */
async function authorize(page: Page, token: string): Promise<void> {
  await page.locator('.btn.authorize').click()
  const dialog = page.locator('.modal-ux')
  await dialog.locator('input').fill(token)
  await dialog.getByRole('button', { name: 'Apply credentials' }).click()
  await dialog.locator('.btn-done').click()
}

/** Executes an operation, and reads the answer from the page. */
async function call(page: Page, path: string, tenant?: string) {
  const block = operation(page, path)
  if ((await block.locator('.execute').count()) === 0) {
    await block.locator('.opblock-summary-control').click()
  }
  if (tenant !== undefined) await block.getByPlaceholder('tenant').fill(tenant)
  const answered = page.waitForResponse((response) => response.request().resourceType() === 'fetch')
  await block.locator('.execute').click()
  const { code }: { code?: string } = await (await answered).json()
  const live = block.locator('.live-responses-table .response')
  await live.filter({ hasText: code ?? '{' }).waitFor()
  const status = await live.locator('.response-col_status').textContent()
  return { status: status?.trim().slice(0, 3), code }
}
