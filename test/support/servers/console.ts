import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import type { Reachable } from './server.ts'

export interface ConsolePage {
  readonly page: Page
  /**
   * Problems since the page was opened: errors of scripts, violations of the content security policy, and
   * requests to other hosts.
   */
  readonly complaints: readonly string[]
  /** Shows another page of the console, such as `/documents/acme`. */
  readonly visit: (route: string) => Promise<void>
}

/** Matches error messages of failed calls. They are not problems, because tests cause them intentionally. */
const ofCalls = /Failed to load resource: the server responded with a status of 4\d\d/

/**
 * Opens a page of the console in a separate browser context. The page is signed in with a link of
 * `weft console`.
 */
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
  const visit = (to: string) =>
    page.evaluate((hash) => {
      location.hash = hash
    }, `#${to}`)
  await visit(route)
  return { page, complaints, visit }
}

/**
 * Collects the problems of a page.
 * @param home origin of the server, which is the only host that the page may request
 */
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

/**
 * Returns the serious and critical findings of axe-core on a page. A finding consists of the rule and the
 * place.
 */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  // Evaluates the source of axe-core, because the content security policy forbids loading it as a script.
  await page.evaluate(axe)
  const { violations } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    return axe.run()
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
}

/** Returns the findings of `seriousFindings` in light and in dark. */
export async function findingsInBothSchemes(page: Page): Promise<readonly string[]> {
  const light = await seriousFindings(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await seriousFindings(page)
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark]
}
