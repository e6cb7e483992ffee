import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import type { Reachable } from './server.ts'

export interface ConsolePage {
  readonly page: Page
  /** Errors of scripts, refusals of the content security policy, and requests to elsewhere, since it was opened. */
  readonly complaints: readonly string[]
}

/** What is not asked of the console: that calls succeed which are made to fail. */
const ofCalls = /Failed to load resource: the server responded with a status of 4\d\d/

/** A page of the console, in a browser context of its own, signed in by a link as `weft console` prints it. */
export async function openConsole(
  browser: Browser,
  weft: Reachable,
  { route = '/', ...options }: { route?: string; width?: number; colorScheme?: 'light' | 'dark' } = {},
): Promise<ConsolePage> {
  const { width = 1280, colorScheme = 'light' } = options
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
  const page = await context.newPage()
  const complaints = complaintsOf(page, weft.url)
  const { apiKey, authToken } = weft.credentials
  const link = new URLSearchParams({ key: apiKey, token: authToken })
  await page.goto(`${weft.url}/console#${link}`)
  await page.getByRole('button', { name: 'Sign in with this key' }).click()
  await page.getByRole('navigation', { name: 'Sections' }).waitFor()
  await page.evaluate((to) => {
    location.hash = `#${to}`
  }, route)
  return { page, complaints }
}

/** Collects what goes wrong in a page. @param home what it may ask */
export function complaintsOf(page: Page, home: string): readonly string[] {
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !ofCalls.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('request', (request) => {
    if (!request.url().startsWith(home) && !request.url().startsWith('data:'))
      complaints.push(`asks ${request.url()}`)
  })
  return complaints
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe-core finds serious or critical on a page: which rule, and where. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  // Not as a script of the page: that its policy forbids.
  await page.evaluate(axe)
  const { violations } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    return axe.run()
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
}
