import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserMissing, openBrowser, skipNotice } from '../support/servers/browser.ts'
import { complaintsOf, openConsole, seriousFindings } from '../support/servers/console.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'
import { isEverythingAsked } from '../support/time/full-run.ts'

skipNotice()

const metricsToken = 'the-metrics-token-of-these-tests'

/** Finds a chart by its description in words. */
const chart = (page: Page, said: RegExp) => page.getByRole('img', { name: said })

describe.skipIf(browserMissing || !isEverythingAsked)('the overview in Chromium', () => {
  let weft: TestServer
  let browser: Browser
  beforeAll(async () => {
    weft = await startTestServer()
    browser = await openBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await weft?.stop()
  })

  it('[CON-6] shows the current figures of the server as charts, in words and as a table', async () => {
    const { page, complaints } = await openConsole(browser, weft, { route: '/overview' })
    await chart(page, /^Updates per second of the last five minutes\. Now 0\./).waitFor()
    await chart(page, /^Commit latency .* Now p50 none/).waitFor()
    const content = { organizationId: 'acme', documentId: 'plan', editorId: 'main', type: 'text', data: 'x' }
    expect((await weft.post('/v2/crdt/add', content)).status).toBe(200)
    await chart(page, /^Updates per second .* accepted: 0 to (?!0\.$)/).waitFor()
    await chart(page, /^Commit latency .*p50: [\d.]+ ms to/).waitFor()
    expect(await page.locator('.lines canvas').count()).toBe(6)
    await page.getByText('Figures as a table').first().click()
    await page.getByRole('table', { name: 'Connections, newest first' }).waitFor()
    await page.getByText('Weft 0.').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await seriousFindings(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  }, 20_000)

  it('[CON-7] requests a metrics token when the server requires one, and recovers when figures are available again', async () => {
    const guarded = await startTestServer({ metricsToken })
    const { page } = await openConsole(browser, guarded, { route: '/overview' })
    await page.getByLabel('Metrics token').fill('wrong')
    await page.getByRole('button', { name: 'Show metrics' }).click()
    await page.getByText('The server rejects this metrics token').waitFor()
    await page.getByLabel('Metrics token').fill(metricsToken)
    await page.getByRole('button', { name: 'Show metrics' }).click()
    await chart(page, /^Connections .* Now 0/).waitFor()
    await page.route('**/metrics', (route) => route.abort())
    await page.getByText('The server does not respond').waitFor()
    await page.unroute('**/metrics')
    await page.route('**/metrics', (route) => route.fulfill({ body: 'weft_nodes 3\n' }))
    await page.getByText('The server does not respond').waitFor({ state: 'detached' })
    await page.getByText('3 servers share the store').waitFor()
    await page.unroute('**/metrics')
    // The tab keeps the token.
    await page.reload()
    await chart(page, /^Connections .* Now 0/).waitFor()
    await page.context().close()
    await guarded.stop()
  }, 20_000)

  it('[CON-11] if the server has no authentication, signs in with empty fields, and opens the shared editor by one click', async () => {
    const open = await startTestServer({ auth: 'none' })
    const page = await (await browser.newContext()).newPage()
    const complaints = complaintsOf(page, open.url)
    await page.goto(`${open.url}/console`)
    await page.getByText('Leave both empty if the server runs without authentication').waitFor()
    await page.getByRole('button', { name: 'Try the shared editor' }).click()
    await page.getByText('Saved on the server').waitFor()
    await page.goto(`${open.url}/console`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(complaints).toEqual([])
    await open.stop()
  })
})
