import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/clients/clients.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { exampleEnvironment, exampleFolder, type Site, startExample } from '../support/servers/examples.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { isEverythingAsked } from '../support/time/full-run.ts'

const address = { organizationId: 'example', documentId: 'board', editorId: 'main', contentKey: 'cards' }

/** Values that the example exposes on the page. */
interface Held {
  provider: { connect(): void; disconnect(): void }
}

interface ShownColumn {
  readonly name: string
  readonly cards: readonly string[]
}

/** Returns the board as the page shows it. */
const columnsOf = (page: Page): Promise<readonly ShownColumn[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('.column')].map((column) => ({
      name: column.querySelector('.name')?.textContent ?? '',
      cards: [...column.querySelectorAll('.title')].map((title) => title.textContent ?? ''),
    })),
  )

const cardsOf = async (page: Page): Promise<readonly (readonly string[])[]> =>
  (await columnsOf(page)).map(({ cards }) => cards)

async function shows(page: Page, wanted: readonly (readonly string[])[]): Promise<void> {
  let found: unknown
  await eventually(
    async () => {
      found = await cardsOf(page)
      return JSON.stringify(found) === JSON.stringify(wanted)
    },
    () => ({ found, wanted }),
  )
}

const card = (page: Page, title: string) => page.locator('.card', { hasText: title })
const connection = (page: Page, what: 'connect' | 'disconnect'): Promise<void> =>
  page.evaluate((name) => (globalThis as unknown as { example: Held }).example.provider[name](), what)

async function add(page: Page, column: string, title: string): Promise<void> {
  await page.getByLabel(`New card in ${column}`).fill(title)
  await page.keyboard.press('Enter')
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Returns the findings of the accessibility checker on a page. */
async function barriers(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string }[] }> } }
    return (await axe.run()).violations.map(({ id }) => id)
  })
}

describe.skipIf(!isEverythingAsked)('the board example in Chromium', () => {
  let weft: TestServer
  let site: Site
  let browser: Browser

  beforeAll(async () => {
    weft = await startTestServer({ engine: 'level' })
    site = await startExample('board', weft)
    browser = await openBrowser()
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    site?.child.kill()
    await weft?.stop()
  })

  async function open(name: string): Promise<Page> {
    const page = await (await browser.newContext({ viewport: { width: 1000, height: 700 } })).newPage()
    await page.goto(`${site.url}/?name=${name}`)
    await page.waitForFunction(() => document.querySelector('#status')?.textContent === 'synced')
    return page
  }

  it('[EXB-1] [EXB-2] [EXB-3] [EXB-4] shows the changes of two users and a backend on one board', async () => {
    const [ada, grace] = await Promise.all([open('Ada'), open('Grace')])
    for (const page of [ada, grace])
      expect((await columnsOf(page)).map(({ name }) => name)).toEqual(['To do', 'Doing', 'Done'])

    for (const title of ['Write', 'Test', 'Ship']) await add(ada, 'To do', title)
    await shows(grace, [['Write', 'Test', 'Ship'], [], []])
    await card(grace, 'Ship').focus()
    await eventually(async () => (await card(ada, 'Ship').locator('.badge').textContent()) === 'Grace')
    await grace.keyboard.press('Enter')
    await grace.keyboard.type('Release')
    await grace.keyboard.press('Enter')
    await shows(ada, [['Write', 'Test', 'Release'], [], []])

    // Both move it before they receive each other's update.
    for (const page of [ada, grace]) await connection(page, 'disconnect')
    await card(ada, 'Write').dragTo(ada.locator('.column').nth(1))
    await card(grace, 'Write').focus()
    await grace.keyboard.press('Shift+ArrowRight')
    await grace.keyboard.press('Shift+ArrowRight')
    await shows(ada, [['Test', 'Release'], ['Write'], []])
    await shows(grace, [['Test', 'Release'], [], ['Write']])
    for (const page of [ada, grace]) await connection(page, 'connect')
    const same = async () => JSON.stringify(await cardsOf(ada)) === JSON.stringify(await cardsOf(grace))
    await eventually(same)
    expect((await cardsOf(ada)).flat().sort()).toEqual(['Release', 'Test', 'Write'])

    const ci = (...words: string[]) =>
      promisify(execFile)(process.execPath, ['ci.js', ...words], {
        cwd: exampleFolder('board'),
        env: exampleEnvironment(weft),
      })
    await ci('add', 'Build failed', 'doing')
    await ci('move', 'Test', 'doing')
    for (const page of [ada, grace]) {
      await eventually(async () => (await cardsOf(page))[1]?.slice(-2).join() === 'Build failed,Test')
      expect((await cardsOf(page)).flat()).toHaveLength(4)
    }
    const [stored] = dataOf(await weft.post('/v2/crdt/get', address)) as { data: object }[]
    expect(Object.keys(stored?.data ?? {})).toHaveLength(4)

    await grace.setViewportSize({ width: 400, height: 800 })
    await grace.emulateMedia({ colorScheme: 'dark' })
    expect(await grace.evaluate(() => document.documentElement.scrollWidth)).toBe(400)
    for (const page of [ada, grace]) expect(await barriers(page)).toEqual([])

    await card(ada, 'Build failed').getByRole('button').click()
    await ada.getByRole('button', { name: 'Delete', exact: true }).click()
    await eventually(async () => (await cardsOf(grace)).flat().length === 3)
  }, 60_000)
})
