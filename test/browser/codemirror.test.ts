import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/clients/clients.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { type Site, startExample } from '../support/servers/examples.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'

const address = { organizationId: 'example', documentId: 'welcome', editorId: 'main' }

/** Values that the example exposes on the page. */
interface Held {
  view: {
    state: { doc: { toString(): string }; selection: { main: { head: number } } }
    dispatch(change: object): void
    focus(): void
  }
  provider: { synced: boolean; wsconnected: boolean; wsconnecting: boolean; url: string }
  stayed?: boolean
}
declare global {
  var example: Held
}

const textOf = (page: Page): Promise<string> =>
  page.evaluate(() => globalThis.example.view.state.doc.toString())

const moveTo = (page: Page, word: string): Promise<void> =>
  page.evaluate((sought) => {
    const { view } = globalThis.example
    view.focus()
    view.dispatch({ selection: { anchor: view.state.doc.toString().indexOf(sought) } })
  }, word)

/** Returns the text directly after the cursor. */
const atCursor = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { state } = globalThis.example.view
    return state.doc.toString().slice(state.selection.main.head)
  })

/** Returns the text before the caret of another user, as the page shows it. */
const beforeRemoteCaret = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const caret = document.querySelector('.cm-ySelectionCaret')
    const line = caret?.closest('.cm-line')
    if (caret === null || line == null) return ''
    const range = document.createRange()
    range.setStart(line, 0)
    range.setEndBefore(caret)
    return range.toString().replace(/\u2060/g, '')
  })

describe('the CodeMirror example in Chromium', () => {
  let weft: TestServer
  let site: Site
  let browser: Browser

  beforeAll(async () => {
    weft = await startTestServer({ engine: 'level' })
    site = await startExample('codemirror', weft)
    browser = await openBrowser()
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    site?.child.kill()
    await weft?.stop()
  })

  async function open(name: string, document = 'welcome'): Promise<Page> {
    const page = await (await browser.newContext()).newPage()
    await page.goto(`${site.url}/?name=${name}&room=example/${document}/main`)
    await page.waitForFunction(() => globalThis.example?.provider.synced)
    await page.evaluate(() => {
      globalThis.example.stayed = true
    })
    return page
  }

  it('[FLOW-1] shows a replacement to two users, keeps their cursors, and does not reload', async () => {
    const [ada, grace] = [await open('Ada'), await open('Grace')]
    await ada.click('.cm-content')
    await ada.keyboard.type('The quick brown fox jumps over the lazy dog.')
    await eventually(async () => (await textOf(grace)) === 'The quick brown fox jumps over the lazy dog.')
    // Only a focused editor shows its cursor to others.
    await grace.bringToFront()
    await grace.click('.cm-content')
    await moveTo(grace, 'dog')
    let caret = ''
    const caretIsBefore = async (text: string): Promise<boolean> => {
      caret = await beforeRemoteCaret(ada)
      return caret === text
    }
    await eventually(
      () => caretIsBefore('The quick brown fox jumps over the lazy '),
      () => caret,
    )
    expect(await ada.textContent('#people')).toContain('Grace')

    const target = 'Yesterday the quick red fox jumped high over the very lazy dog.'
    const { status } = await weft.post('/v2/crdt/update', { ...address, type: 'text', data: target })
    expect(status).toBe(200)

    await eventually(async () => (await textOf(ada)) === target && (await textOf(grace)) === target)
    expect(await atCursor(grace)).toBe('dog.')
    const moved = 'Yesterday the quick red fox jumped high over the very lazy '
    await eventually(
      () => caretIsBefore(moved),
      () => caret,
    )
    for (const page of [ada, grace]) expect(await page.evaluate(() => globalThis.example.stayed)).toBe(true)
  }, 60_000)

  it('[TPL-6] undo by the keyboard keeps the changes of the other user', async () => {
    const [ada, grace] = [await open('Ada', 'undo'), await open('Grace', 'undo')]
    const type = async (page: Page, text: string): Promise<void> => {
      await page.bringToFront()
      await page.click('.cm-content')
      await page.keyboard.press('Control+End')
      // One input, and so one change.
      await page.keyboard.insertText(text)
    }
    await type(ada, 'From Ada. ')
    await eventually(async () => (await textOf(grace)) === 'From Ada. ')
    await type(grace, 'From Grace. ')
    await eventually(async () => (await textOf(ada)) === 'From Ada. From Grace. ')
    await ada.bringToFront()
    await ada.keyboard.press('Control+z')
    for (const page of [ada, grace])
      await eventually(
        async () => (await textOf(page)) === 'From Grace. ',
        () => textOf(page),
      )
  }, 60_000)
})
