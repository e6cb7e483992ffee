import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/clients/clients.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { type Site, startExample } from '../support/servers/examples.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'

/** Values that the example exposes on the page. */
interface Held {
  editor: {
    state: {
      doc: { textBetween(from: number, to: number, between: string): string; content: { size: number } }
    }
    commands: { undo(): boolean }
  }
}

const text = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { doc } = (globalThis as unknown as { example: Held }).example.editor.state
    return doc.textBetween(0, doc.content.size, '|')
  })

const has = async (page: Page, words: string): Promise<void> => {
  let found = ''
  await eventually(
    async () => {
      found = await text(page)
      return found.includes(words)
    },
    () => found,
  )
}

const caretOfWriter = (page: Page) =>
  page.locator('.collaboration-carets__caret', { hasText: 'Writer for Ada' })

describe('the example with a writer in Chromium', () => {
  let weft: TestServer
  let site: Site
  let browser: Browser

  beforeAll(async () => {
    weft = await startTestServer()
    site = await startExample('agent-writer', weft, { EXAMPLE_PIECE_MS: '100' })
    browser = await openBrowser()
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    site?.child.kill()
    await weft?.stop()
  })

  async function open(name: string, documentId: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage()
    await page.goto(`${site.url}/?name=${name}&document=${documentId}`)
    await page.waitForFunction(() => document.querySelector('#status')?.textContent === 'saved')
    return page
  }

  async function startWriter(page: Page, topic: string): Promise<void> {
    await page.fill('#prompt', topic)
    await page.dispatchEvent('#write', 'click')
  }

  it('[EXA-9] all users see the caret and the text of the writer, and the text that they type meanwhile stays', async () => {
    const [ada, grace] = [await open('Ada', 'essay'), await open('Grace', 'essay')]
    await ada.click('.tiptap')
    await ada.keyboard.type('An essay.')
    await has(grace, 'An essay.')
    // The page of Grace stays in the foreground.
    await grace.bringToFront()
    await grace.click('.tiptap')
    await grace.keyboard.press('Control+Home')
    await startWriter(ada, 'Rivers')
    for (const page of [grace, ada]) {
      await has(page, '|Rivers')
      await caretOfWriter(page).first().waitFor()
    }
    expect(await grace.innerText('#people')).toContain('Writer for Ada · agent')
    expect(await text(grace)).not.toContain('let a language model write.')
    await grace.keyboard.type('Not only: ', { delay: 40 })
    await has(grace, 'let a language model write.')
    await eventually(async () => (await ada.innerText('#outcome')) === 'The section is complete.')
    for (const page of [grace, ada]) {
      await has(page, 'Not only: An essay.|Rivers|This section is about Rivers.')
      await eventually(async () => (await caretOfWriter(page).count()) === 0)
    }
    expect(await grace.locator('.tiptap h2').allInnerTexts()).toEqual(['Rivers'])
    expect(await grace.locator('.tiptap li').count()).toBe(2)

    // Keystrokes between which a busy machine pauses are several steps of the undo.
    while (!(await text(grace)).startsWith('An essay.'))
      await grace.evaluate(() => (globalThis as unknown as { example: Held }).example.editor.commands.undo())
    await has(ada, 'An essay.|Rivers|This section is about Rivers.')
    expect(await text(ada)).not.toContain('Not only')
  }, 60_000)

  it('[EXA-9] the user who has started the writer stops it, and keeps or removes its text', async () => {
    const ada = await open('Ada', 'stopped')
    await ada.click('.tiptap')
    await ada.keyboard.type('Before.')
    await startWriter(ada, 'Lakes')
    await has(ada, '|Lakes')
    await ada.click('#withdraw')
    await eventually(async () => (await ada.innerText('#outcome')) === 'Removed.')
    expect((await text(ada)).replace(/\|+$/, '')).toBe('Before.')

    await startWriter(ada, 'Seas')
    await has(ada, '|Seas')
    await ada.click('#keep')
    await eventually(async () => (await ada.innerText('#outcome')) === 'Stopped.')
    const stopped = await text(ada)
    expect(stopped).toMatch(/^Before\.\|+Seas/)
    expect(stopped).not.toContain('let a language model write.')
  }, 60_000)
})
