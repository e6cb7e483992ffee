import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/clients/clients.ts'
import { type RunningProxy, startProxy } from '../support/proxies/proxies.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { type Site, startExample } from '../support/servers/examples.ts'
import { metric, startTestServer, type TestServer } from '../support/servers/server.ts'

/** Number of tabs of one browser. Chromium opens six connections to one origin for all of them. */
const tabs = 8

describe('the CodeMirror example in Chromium behind a proxy that rejects websockets', () => {
  let weft: TestServer
  let proxy: RunningProxy
  let site: Site
  let browser: Browser

  beforeAll(async () => {
    weft = await startTestServer({ engine: 'level' })
    proxy = await startProxy('haproxy', 'plain', [weft.port])
    site = await startExample('codemirror', { ...weft, url: proxy.url })
    browser = await openBrowser()
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    site?.child.kill()
    await proxy?.stop()
    await weft?.stop()
  })

  async function open(context: BrowserContext, name: string, documentId: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(`${site.url}/?name=${name}&room=example/${documentId}/main`)
    await eventually(async () => (await page.innerText('#status')) === 'saved')
    return page
  }

  const textOf = (page: Page): Promise<string> =>
    page.evaluate(() => globalThis.example.view.state.doc.toString())

  const insert = (page: Page, text: string): Promise<void> =>
    page.evaluate((typed) => {
      globalThis.example.view.dispatch({ changes: { from: 0, insert: typed } })
    }, text)

  it('[TRANS-67] shows two users each other and their edits, reports them as saved, and removes a user who closes the page', async () => {
    const ada = await open(await browser.newContext(), 'Ada', 'two')
    const grace = await open(await browser.newContext(), 'Grace', 'two')
    expect(await metric(weft, 'weft_connections{protocol="y-websocket",transport="http"')).toBe(2)
    await ada.click('.cm-content')
    await ada.keyboard.type('Typed by Ada.')
    await eventually(async () => (await textOf(grace)) === 'Typed by Ada.')
    await insert(grace, 'Typed by Grace. ')
    await eventually(async () => (await textOf(ada)) === 'Typed by Grace. Typed by Ada.')
    for (const page of [ada, grace]) {
      await eventually(async () => (await page.innerText('#status')) === 'saved')
      expect(await page.textContent('#people')).toContain('Ada')
      expect(await page.textContent('#people')).toContain('Grace')
    }
    await grace.close()
    await eventually(async () => (await ada.textContent('#people'))?.includes('Grace') === false)
  })

  it(`[TRANS-68] syncs ${tabs} tabs of one browser, which has fewer connections`, async () => {
    const context = await browser.newContext()
    const pages: Page[] = []
    for (let index = 0; index < tabs; index++) pages.push(await open(context, `Tab${index}`, 'many'))
    const marks = pages.map((_, index) => `<${index}>`)
    for (const [index, page] of pages.entries()) await insert(page, marks[index] as string)
    const texts = (): Promise<string[]> => Promise.all(pages.map(textOf))
    const isComplete = (text: string): boolean =>
      text.length === marks.join('').length && marks.every((mark) => text.includes(mark))
    let found: string[] = []
    await eventually(
      async () => {
        found = await texts()
        return found.every((text) => isComplete(text) && text === found[0])
      },
      () => found,
    )
  })
})
