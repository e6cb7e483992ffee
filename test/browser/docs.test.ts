import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { openBrowser } from '../support/servers/browser.ts'
import { complaintsOf, seriousFindings } from '../support/servers/console.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

describe('the documentation in Chromium', () => {
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

  /** The titles of the results, in order. */
  const resultsOf = (page: Page): Promise<string[]> =>
    page.locator('.results .result strong').allTextContents()

  /** Types a query, and returns the titles of the results for it. */
  async function found(page: Page, query: string, first: string | RegExp): Promise<string[]> {
    await page.getByRole('combobox', { name: 'Search the documentation' }).fill(query)
    await page.getByRole('option').first().filter({ hasText: first }).waitFor()
    return resultsOf(page)
  }

  itLong(
    '[GUIDE-23] finds sections, operations, options and errors by keyboard',
    async () => {
      const context = await browser.newContext()
      const page = await context.newPage()
      const complaints = complaintsOf(page, weft.url)
      await page.goto(`${weft.url}/docs`)
      await page.keyboard.press('/')
      const box = page.getByRole('combobox', { name: 'Search the documentation' })
      await page.keyboard.type('close codes')
      await page.getByRole('option', { name: /^Close codes Connect an editor/ }).waitFor()
      await page
        .getByRole('status')
        .filter({ hasText: /^\d+ results$/ })
        .waitFor()
      expect(await page.locator('.results mark').first().textContent()).toBe('Close')
      expect(await seriousFindings(page)).toEqual([])
      await page.keyboard.press('Escape')
      expect(await page.getByRole('option').count()).toBe(0)

      expect((await found(page, 'maxBodyBytes', 'maxBodyBytes')).slice(0, 2)).toContain('--max-body-bytes')
      await found(page, 'crdt/update', '/v2/crdt/update')
      await found(page, 'invalid-cred', 'auth/invalid-credentials')
      await found(page, 'idempotncy', /^Idempotency/)
      await found(page, 'troubleshooting', /^Troubleshooting/)
      await found(page, 'weft_ready', 'weft_ready')

      // The arrows choose a result, in a circle; Enter opens it.
      const titles = await found(page, 'webhook', 'Webhooks')
      const chosen = page.locator('.results [aria-selected="true"] strong')
      await box.press('ArrowUp')
      expect(await chosen.textContent()).toBe(titles.at(-1))
      await box.press('ArrowDown')
      await box.press('ArrowDown')
      expect(await chosen.textContent()).toBe(titles[1])
      const target = await page.locator('.results [aria-selected="true"]').getAttribute('href')
      expect(await box.getAttribute('aria-activedescendant')).toBe('docs-result-1')
      await box.press('Enter')
      await page.waitForURL(weft.url + target)

      // Without a choice, Enter opens the first result, also before the index is here.
      await page.getByRole('combobox').fill('presence and awareness')
      await page.getByRole('combobox').press('Enter')
      await page.waitForURL(`${weft.url}/docs/presence`)
      await page.getByRole('combobox').fill('qqqqqqqq')
      await page.getByText('No results').waitFor()
      expect(complaints).toEqual([])
      await context.close()
    },
    60_000,
  )

  itLong(
    '[GUIDE-23] shows the texts of the index as plain text, and lets the user type / into fields',
    async () => {
      const page = await browser.newPage()
      const complaints = complaintsOf(page, weft.url)
      const hostile = '<img src=x onerror="throw 1"> & "quotes"'
      await page.route('**/docs/search.json', (route) =>
        route.fulfill({
          json: [{ path: '/docs/rest', page: hostile, section: `Words ${hostile}`, text: hostile }],
        }),
      )
      await page.goto(`${weft.url}/docs/reference/crdt`)
      await found(page, 'words img', 'Words')
      expect(await resultsOf(page)).toEqual([`Words ${hostile}`])
      expect(await page.locator('.results img').count()).toBe(0)
      const form = await openForm(page, '/v2/crdt/add')
      const body = form.getByLabel('Request body')
      await body.fill('')
      await body.press('/')
      expect(await body.inputValue()).toBe('/')
      expect(complaints).toEqual([])
      await page.close()
    },
    60_000,
  )

  itLong(
    '[GUIDE-24] copies a sample by keyboard, and announces the result',
    async () => {
      const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
      const page = await context.newPage()
      const complaints = complaintsOf(page, weft.url)
      await page.goto(`${weft.url}/docs/rest`)
      await page.getByRole('button', { name: 'Copy code' }).first().waitFor()
      expect(await page.locator('.sample > .copy').count()).toBe(await page.locator('main pre').count())
      await page.getByRole('button', { name: 'Copy code' }).first().focus()
      await page.keyboard.press('Enter')
      await page
        .getByRole('status')
        .filter({ hasText: /^Copied$/ })
        .waitFor()
      const text = await page.locator('main pre').first().innerText()
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text.trimEnd())
      expect(await seriousFindings(page)).toEqual([])
      expect(complaints).toEqual([])
      await context.close()
    },
    60_000,
  )

  itLong(
    '[GUIDE-28] shows the address of its own server in the samples',
    async () => {
      const page = await browser.newPage()
      await page.goto(`${weft.url}/docs/editors`)
      await page.locator('.copy').first().waitFor()
      const samples = (await page.locator('main code').allInnerTexts()).join('\n')
      expect(samples).toContain(`curl ${weft.url}/v2/auth/generate_token`)
      expect(samples).toContain(`${weft.url.replace('http:', 'ws:')}/sync`)
      expect(samples).not.toContain('localhost:8787')
      await page.close()
    },
    60_000,
  )

  itLong(
    '[GUIDE-24] copies a sample even if the page has no access to the clipboard',
    async () => {
      const page = await browser.newPage()
      // As over plain HTTP.
      await page.addInitScript(() => {
        Object.defineProperty(navigator, 'clipboard', { value: undefined })
      })
      await page.goto(`${weft.url}/docs/reference/crdt`)
      const button = page.locator('.copy').first()
      await button.press('Enter')
      await page
        .getByRole('status')
        .filter({ hasText: /^Copied$/ })
        .waitFor()
      expect(await button.evaluate((element) => element === document.activeElement)).toBe(true)
      const body = (await openForm(page, '/v2/crdt/add')).getByLabel('Request body')
      await body.fill('')
      await body.press('Control+V')
      const text = await page.locator('main pre').first().innerText()
      expect(await body.inputValue()).toBe(text.trimEnd())
      await page.close()
    },
    60_000,
  )
})
