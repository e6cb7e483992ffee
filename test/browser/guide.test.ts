import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chapters, index, pathOf } from '../../src/docs/chapters.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'
import { isEverythingAsked } from '../support/time/full-run.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe.skipIf(!isEverythingAsked)('/docs in Chromium', () => {
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

  const wide = ['light', 1280] as const
  const narrow = ['dark', 400] as const
  const all = [...[index, ...chapters].map(pathOf), '/docs/reference', '/docs/reference/crdt']
  /** One of each kind: prose and samples, the widest table, the reference. */
  const some = ['/docs', '/docs/limits', '/docs/reference/memory']

  it(
    '[GUIDE-6] [GUIDE-24] loads nothing that the content security policy rejects, and fits windows of any width in light and in dark mode',
    () => look(some, [wide, narrow]),
    60_000,
  )

  it('[GUIDE-6] [GUIDE-24] fits a narrow window on all pages', () => look(all, [narrow]), 300_000)

  async function look(
    paths: readonly string[],
    windows: readonly (typeof wide | typeof narrow)[],
  ): Promise<void> {
    for (const [colorScheme, width] of windows) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } })
      for (const path of paths)
        expect({ path, width, ...(await looked(context, path)) }).toEqual({ path, width, ...sound })
      await context.close()
    }
  }

  const sound = { complaints: [], elsewhere: [], tooWide: 0, scrolling: 0, violations: [] }

  async function looked(context: BrowserContext, path: string) {
    const page = await context.newPage()
    const complaints: string[] = []
    const elsewhere: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('request', (request) => {
      if (!/^(data:|http:\/\/127\.0\.0\.1:)/.test(request.url())) elsewhere.push(request.url())
    })
    await page.goto(weft.url + path)
    const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    const scrolling = await page.evaluate(
      () =>
        [...document.querySelectorAll('pre')].filter((each) => each.scrollWidth > each.clientWidth).length,
    )
    const violations = await violationsOf(page)
    await page.close()
    return { complaints, elsewhere, tooWide: Math.max(0, tooWide), scrolling, violations }
  }

  /**
   * Returns the findings of axe. The debugger evaluates it, which the policy of the page does not restrict.
   */
  async function violationsOf(page: Page): Promise<readonly string[]> {
    await page.evaluate(axe)
    return page.evaluate(async () => {
      const { axe } = window as unknown as {
        axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
      }
      const { violations } = await axe.run()
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
    })
  }

  it('[GUIDE-6] skips the navigation and reaches the chapters by keyboard', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${weft.url}/docs`)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${weft.url}/docs#content`)
    await page.locator('#all-chapters a', { hasText: 'Presence' }).press('Enter')
    await page.waitForURL(`${weft.url}/docs/presence`)
    expect(await page.locator('h1').textContent()).toBe('Presence and awareness')
    await context.close()
  })
})
