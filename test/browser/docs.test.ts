import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { browserMissing, openBrowser, skipNotice } from '../support/servers/browser.ts'
import { complaintsOf, seriousFindings } from '../support/servers/console.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

skipNotice()

describe.skipIf(browserMissing)('the documentation in Chromium', () => {
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

  /** Opens the form of an operation. */
  async function openForm(page: Page, path: string) {
    const box = page.locator('.try-box', { has: page.locator(`form[data-path="${path}"]`) })
    await box.locator('summary').click()
    return box
  }

  itLong(
    '[API-43] sends the edited request with the entered credentials, and shows the response',
    async () => {
      const context = await browser.newContext()
      const page = await context.newPage()
      const complaints = complaintsOf(page, weft.url)
      const urls: string[] = []
      context.on('request', (request) => urls.push(request.url()))
      await page.goto(`${weft.url}/docs/reference/crdt`)

      const add = await openForm(page, '/v2/crdt/add')
      await add.getByRole('button', { name: 'Send' }).click()
      await add.getByText(/^400 Bad Request in \d+ ms$/).waitFor()
      expect(await add.getByRole('region', { name: 'Response body' }).textContent()).toContain(
        '"code": "auth/missing-credentials"',
      )

      const { apiKey, authToken } = weft.credentials
      await add.getByLabel('API key', { exact: true }).fill(apiKey)
      await add.getByLabel('Auth token of the API key').fill(authToken)
      const body = add.getByLabel('Request body')
      await body.fill((await body.inputValue()).replace('Hello', 'Typed by hand'))
      await add.getByRole('button', { name: 'Send' }).click()
      await add.getByText(/^200 OK in \d+ ms$/).waitFor()
      expect(await add.getByRole('region', { name: 'Response body' }).textContent()).toContain(
        '"message": "Content added."',
      )
      expect(await seriousFindings(page)).toEqual([])
      const get = await weft.post('/v2/crdt/get', { organizationId: 'acme', documentId: 'report' })
      expect(get.body.result?.data).toMatchObject([{ id: 'main', data: 'Typed by hand' }])

      // The other forms have the credentials, on this page and on others.
      const read = await openForm(page, '/v2/crdt/get')
      await read.getByRole('button', { name: 'Send' }).click()
      await read.getByText(/^200 OK/).waitFor()
      await page.goto(`${weft.url}/docs/reference/auth`)
      const token = await openForm(page, '/v2/auth/generate_token')
      expect(await token.getByLabel('Auth token of the API key').inputValue()).toBe(authToken)

      expect(urls.filter((url) => url.includes(apiKey) || url.includes(authToken))).toEqual([])
      expect(await page.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, ''])
      expect(complaints).toEqual([])
      await context.close()
    },
    60_000,
  )
})
