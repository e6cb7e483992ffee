import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/clients/clients.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { type Site, startExample } from '../support/servers/examples.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { isEverythingAsked } from '../support/time/full-run.ts'

const address = { organizationId: 'example', documentId: 'report', editorId: 'main' }

/** Values that the example exposes on the page. */
interface Held {
  quill: {
    getText(): string
    getSelection(): { index: number } | null
    setSelection(index: number, length: number, source: 'user'): void
  }
}

interface Reporting {
  readonly withReport: (delta: readonly object[]) => readonly object[]
}

const textOf = (page: Page): Promise<string> =>
  page.evaluate(() => (globalThis as unknown as { example: Held }).example.quill.getText())

/** Selects words; with length 0 it puts the cursor before them. */
async function select(page: Page, words: string, length = words.length): Promise<void> {
  await page.bringToFront()
  await page.focus('.ql-editor')
  await page.evaluate(
    ([sought, count]) => {
      const { quill } = (globalThis as unknown as { example: Held }).example
      quill.setSelection(quill.getText().indexOf(sought), count, 'user')
    },
    [words, length] as const,
  )
}

const afterCursor = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { quill } = (globalThis as unknown as { example: Held }).example
    return quill.getText().slice(quill.getSelection()?.index ?? 0)
  })

async function reads(page: Page, words: string | RegExp): Promise<void> {
  let found = ''
  const isThere = async (): Promise<boolean> => {
    found = await textOf(page)
    return typeof words === 'string' ? found === words : words.test(found)
  }
  await eventually(isThere, () => found)
}

describe.skipIf(!isEverythingAsked)('the Quill example in Chromium', () => {
  let weft: TestServer
  let site: Site
  let browser: Browser

  beforeAll(async () => {
    weft = await startTestServer()
    site = await startExample('quill', weft)
    browser = await openBrowser()
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    site?.child.kill()
    await weft?.stop()
  })

  async function open(name: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage()
    await page.goto(`${site.url}/?name=${name}`)
    await page.waitForSelector('.ql-editor[contenteditable=true]')
    return page
  }

  it('[EXA-6] keeps words, formats and cursors of two users when a backend writes a delta', async () => {
    const [ada, grace] = [await open('Ada'), await open('Grace')]
    await ada.click('.ql-editor')
    await ada.keyboard.type('The plan is good.')
    await reads(grace, 'The plan is good.\n')
    await select(ada, 'plan')
    await ada.click('.ql-bold')
    await grace.waitForSelector('.ql-editor strong:text-is("plan")')
    await select(grace, 'good', 0)
    await eventually(async () => (await ada.textContent('.ql-cursors'))?.includes('Grace') === true)

    const bold = { bold: true }
    const delta = [
      { insert: 'As we said: the ' },
      { insert: 'plan', attributes: bold },
      { insert: ' is good.\n' },
    ]
    dataOf(await weft.post('/v2/crdt/update', { ...address, type: 'delta', data: delta }))
    for (const page of [ada, grace]) await reads(page, 'As we said: the plan is good.\n')
    expect(await afterCursor(grace)).toBe('good.\n')

    await ada.dispatchEvent('#report', 'click')
    await grace.keyboard.type('very ')
    // The number of words at the time of the report depends on which edit was faster.
    const both = /^As we said: the plan is very good\.\nReport\nWords: \d\nHeadings: 0\nList items: 0\n$/
    for (const page of [ada, grace]) await reads(page, both)
    expect(await afterCursor(grace)).toMatch(/^good\.\nReport\n/)
    await ada.waitForSelector('.ql-editor h2:text-is("Report")')
    const [{ data: stored } = { data: null }] = dataOf(
      await weft.post('/v2/crdt/get', { ...address, format: 'delta' }),
    ) as {
      data: unknown
    }[]
    expect(JSON.stringify(stored)).toContain('{"insert":"plan","attributes":{"bold":true}}')
  }, 60_000)

  it('[EXA-7] replaces the former report, and writes nothing when nothing has changed', async () => {
    const file = join(import.meta.dirname, '../..', 'examples', 'quill', 'report.js')
    const { withReport } = (await import(pathToFileURL(file).href)) as Reporting
    const head = [{ insert: 'Plan' }, { insert: '\n', attributes: { header: 1 } }]
    const first = withReport([...head, { insert: 'Two words.\n' }])
    expect(withReport(first)).toEqual(first)
    const again = withReport([...first, { insert: 'And more.\n' }])
    expect(JSON.stringify(again)).toContain('"Words: "},{"insert":"5","attributes":{"bold":true}}')
    expect(JSON.stringify(again).match(/Report/g)).toHaveLength(1)
    expect(again.at(-1)).toEqual({ insert: 'And more.\n' })
  })
})
