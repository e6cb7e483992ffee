import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { browserMissing, openBrowser, skipNotice } from '../support/servers/browser.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

skipNotice()

describe.skipIf(browserMissing)('/docs/api in Chromium', () => {
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

  itLong(
    '[API-43] shows the response of "Try it out" when keys were typed',
    async () => {
      const page = await browser.newPage()
      const complaints: string[] = []
      const elsewhere: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text())
      })
      page.on('pageerror', ({ message }) => complaints.push(message))
      page.on('request', (request) => {
        if (!request.url().startsWith(weft.url) && !request.url().startsWith('data:'))
          elsewhere.push(request.url())
      })
      await page.goto(`${weft.url}/docs/api`)

      await page.click('.authorize')
      const { apiKey, authToken } = weft.credentials
      for (const [scheme, value] of Object.entries({ apiKey, authToken })) {
        const form = page.locator('.auth-container', {
          has: page.locator('h4 code', { hasText: new RegExp(`^${scheme}$`) }),
        })
        await form.locator('input').fill(value)
        await form.locator('button[type=submit]').click()
      }
      await page.click('.close-modal')

      const operation = page.locator('#operations-crdt-v2_crdt_add')
      await operation.locator('.opblock-summary-control').click()
      await operation.locator('.execute').click()
      const answered = operation.locator('.live-responses-table .response-col_status')
      await answered
        .filter({ hasText: /^\s*\d/ })
        .first()
        .waitFor()
      expect(
        await answered
          .filter({ hasText: /^\s*\d/ })
          .first()
          .textContent(),
      ).toMatch(/^\s*200/)
      const get = await weft.post('/v2/crdt/get', { organizationId: 'acme', documentId: 'report' })
      expect(get.body.result?.data).toMatchObject([{ id: 'main', data: 'Hello' }])

      expect(elsewhere).toEqual([])
      expect(complaints).toEqual([])
    },
    60_000,
  )
})
