import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { historyNames } from '../../src/capabilities/observability/metric-points.ts'
import { RawClient } from '../support/clients/clients.ts'
import { openBrowser } from '../support/servers/browser.ts'
import {
  complaintsOf,
  findingsInBothSchemes,
  openConsole,
  seriousFindings,
} from '../support/servers/console.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'
import { otherKey } from '../support/servers/tenants.ts'
import { isEverythingAsked } from '../support/time/full-run.ts'

const metricsToken = 'the-metrics-token-of-these-tests'

/** Finds a chart by its description in words. */
const chart = (page: Page, said: RegExp) => page.getByRole('img', { name: said })

/** Samples up to `end`, in the form of `/v2/metrics/history/get`. */
function samples(count: number, intervalSeconds: number, end: number) {
  const timestamps = Array.from(
    { length: count },
    (_, index) => end - (count - index) * intervalSeconds * 1000,
  )
  const values = historyNames.map((name) => [name, timestamps.map(() => 3)] as const)
  return { intervalSeconds, timestamps, ...Object.fromEntries(values) }
}

describe.skipIf(!isEverythingAsked)('the overview in Chromium', () => {
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
    expect(await findingsInBothSchemes(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  }, 20_000)

  it('[CON-7] requests a metrics token when the server requires one, and shows figures again when they are available', async () => {
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
    await page.route('**/metrics', (route) =>
      route.fulfill({ json: [{ name: 'weft_nodes', labels: {}, value: 3 }] }),
    )
    await page.getByText('The server does not respond').waitFor({ state: 'detached' })
    await page.getByText('3 servers share the store').waitFor()
    await page.unroute('**/metrics')
    // The tab keeps the token.
    await page.reload()
    await chart(page, /^Connections .* Now 0/).waitFor()
    await page.context().close()
    await guarded.stop()
  }, 20_000)

  it('[CON-73] shows the history that the server has kept, of an hour or a day, or why there is none', async () => {
    const server = await startTestServer()
    const { page, complaints } = await openConsole(browser, server, { route: '/users' })
    // The clock of this server is an hour behind.
    await page.route('**/v2/metrics/history/get', (route) => {
      const timestamp = Date.now() - 3_600_000
      const [recent, day] = [samples(360, 10, timestamp), samples(288, 300, timestamp)]
      const data = { node: 'one', timestamp, recent, day }
      return route.fulfill({ json: { result: { status: 'success', message: '', data } } })
    })
    await page.getByRole('link', { name: 'Overview' }).click()
    await chart(page, /^Connections of the last (59|60|61) minutes\. Now 0\. open: 0 to 3\./).waitFor()
    await page.getByLabel('Charts').selectOption('Last 24 hours')
    await chart(page, /^Connections of the last 24 hours\. Now 0\. open: 0 to 3\./).waitFor()
    await chart(page, /^Commit latency of the last 24 hours\. .*p99: 3 s to 3 s\./).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.unroute('**/v2/metrics/history/get')
    await otherKey(server)
    await page.reload()
    await page.getByText('The charts start when this page opens.').waitFor()
    await chart(page, /^Connections of the last five minutes/).waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
    await server.stop()
  }, 60_000)

  it('[CON-74] lists the busiest open documents and the users online, and follows them', async () => {
    const { page, complaints } = await openConsole(browser, weft, { route: '/overview', width: 400 })
    const documents = page.getByRole('region', { name: 'Open documents' })
    const users = page.getByRole('region', { name: 'Users online' })
    await documents.getByText('No document is open.').waitFor()
    const connect = async (userId: string, path: string): Promise<RawClient> => {
      const token = await weft.token(userId, { name: userId.toUpperCase() })
      const client = await RawClient.connect(`${weft.wsUrl}/sync/${path}?token=${token}`)
      await client.roundTrip()
      return client
    }
    const clients = [await connect('ada', 'acme/plan/main'), await connect('bob', 'acme/plan/main')]
    clients.push(await connect('ada', 'acme/budget/main'))
    const row = documents.getByRole('row').filter({ hasText: 'plan' })
    await row.getByText('ADA').waitFor()
    await users.getByRole('link', { name: 'BOB' }).waitFor()
    const rows = await documents.getByRole('row').allTextContents()
    expect(rows.findIndex((text) => text.includes('plan'))).toBe(1)
    expect(await seriousFindings(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400)
    for (let number = 0; number < 7; number += 1)
      clients.push(await connect(`user${number}`, `acme/doc${number}/main`))
    await documents.getByText('and 3 more').waitFor()
    expect(await documents.getByRole('link').count()).toBe(6)
    for (const client of clients) client.end()
    await users.getByText('No user is connected.').waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  }, 60_000)

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
