import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { eventually } from '../support/clients/clients.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { type Site, startExample } from '../support/servers/examples.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

/** Returns the text without the carets of other users; empty while the page reloads. */
const textOf = (page: Page): Promise<string> =>
  page.evaluate(() => globalThis.example?.view.state.doc.toString() ?? '').catch(() => '')

async function reads(page: Page, words: string): Promise<void> {
  let found = ''
  const isThere = async (): Promise<boolean> => {
    found = await textOf(page)
    return found === words
  }
  await eventually(isThere, () => found)
}

async function has(page: Page, selector: string, words: string): Promise<void> {
  let found: unknown
  const isThere = async (): Promise<boolean> => {
    found = await seenOn(page)
    return (await page.innerText(selector)).includes(words)
  }
  await eventually(isThere, () => found)
}

/** Returns what explains a page that does not get into the expected state. */
const seenOn = (page: Page): Promise<unknown> =>
  page
    .evaluate(() => {
      const { synced, wsconnected, wsconnecting, url } = globalThis.example?.provider ?? {}
      const shown = ['status', 'notice', 'editor'].map((id) => document.getElementById(id)?.innerText)
      return { shown, synced, wsconnected, wsconnecting, url: url?.split('?')[0] }
    })
    .catch(String)

describe('the CodeMirror example without its server, in Chromium', () => {
  let data: string
  let weft: TestServer
  let site: Site
  let browser: Browser

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'weft-offline-'))
    weft = await startTestServer({ engine: 'level', dataDir: data })
    site = await startExample('codemirror', weft)
    browser = await openBrowser()
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    site?.child.kill()
    await weft?.stop()
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  })

  async function open(context: BrowserContext, name: string, documentId: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(`${site.url}/?name=${name}&room=example/${documentId}/main`)
    return page
  }

  const stored = async (documentId: string): Promise<unknown> => {
    const address = { organizationId: 'example', documentId, editorId: 'main' }
    const [{ data: content } = { data: null }] = dataOf(await weft.post('/v2/crdt/get', address)) as {
      data: unknown
    }[]
    return content
  }

  async function type(page: Page, key: string, words: string): Promise<void> {
    await page.bringToFront()
    await page.click('.cm-content')
    await page.keyboard.press(key)
    await page.keyboard.type(words)
  }

  itLong(
    '[EXA-4] keeps offline edits when the page is reloaded, and merges them when the server is available again',
    async () => {
      const ada = await open(await browser.newContext(), 'Ada', 'offline')
      const grace = await open(await browser.newContext(), 'Grace', 'offline')
      for (const page of [ada, grace]) await has(page, '#status', 'saved')
      await type(ada, 'Control+End', 'Written together.')
      await has(ada, '#status', 'saved')
      await reads(grace, 'Written together.')

      const { port } = weft
      await weft.stop()
      for (const page of [ada, grace]) await has(page, '#status', 'offline: kept in this browser')
      await type(ada, 'Control+Home', 'Ada alone. ')
      await type(grace, 'Control+End', ' Grace alone.')
      await ada.reload()
      await reads(ada, 'Ada alone. Written together.')
      await has(ada, '#status', 'offline: kept in this browser')
      await type(ada, 'Control+Home', 'Again. ')

      weft = await startTestServer({ engine: 'level', dataDir: data, port })
      const merged = 'Again. Ada alone. Written together. Grace alone.'
      for (const page of [ada, grace]) {
        await reads(page, merged)
        await eventually(async () => (await page.innerText('#status')) === 'saved')
        expect(await page.isVisible('#notice')).toBe(false)
      }
      expect(await stored('offline')).toBe(merged)
    },
    90_000,
  )

  itLong(
    '[EXA-5] does not merge kept content into another document of the same name',
    async () => {
      const context = await browser.newContext()
      const before = await open(context, 'Ada', 'again')
      await has(before, '#status', 'saved')
      await type(before, 'Control+End', 'Old.')
      await eventually(async () => (await stored('again').catch(() => null)) === 'Old.')
      await has(before, '#status', 'saved')
      await before.close()

      const address = { organizationId: 'example', documentId: 'again' }
      dataOf(await weft.post('/v2/crdt/delete', { ...address, editorIds: ['main'] }))
      const made = { ...address, editorId: 'main', type: 'text', data: 'New.' }
      dataOf(await weft.post('/v2/crdt/add', made))
      const after = await open(context, 'Ada', 'again')
      await has(after, '#notice', 'The document was deleted and created again')
      expect(await textOf(after)).toBe('Old.')
      expect(await stored('again')).toBe('New.')

      await after.click('#forget')
      await reads(after, 'New.')
      await has(after, '#status', 'saved')
      expect(await stored('again')).toBe('New.')
    },
    90_000,
  )
})
