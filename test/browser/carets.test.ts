import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { eventually } from '../support/clients/clients.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { type Site, startExample } from '../support/servers/examples.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'

/** The caret of another user on a page: its name, and the text before it in its block. */
interface Caret {
  readonly name: string
  readonly before: string
}

interface Example {
  readonly contentKey: string
  readonly type: string
  readonly data: unknown
  readonly editor: string
  /** Runs on the page. */
  readonly carets: () => readonly Caret[]
}

/** Returns the carets that are elements in the text. Runs on the page. */
function caretsInText(): readonly Caret[] {
  const found = document.querySelectorAll('.collaboration-carets__caret, .cm-ySelectionCaret')
  return [...found].map((caret) => {
    const range = document.createRange()
    range.setStart(caret.closest('p, .cm-line') ?? document.body, 0)
    range.setEndBefore(caret)
    const label = caret.querySelector('.collaboration-carets__label, .cm-ySelectionInfo')
    return { name: label?.textContent ?? '', before: range.toString().replace(/\u2060/g, '') }
  })
}

/** Returns the carets that quill-cursors draws above the text. Runs on the page. */
function caretsAboveText(): readonly Caret[] {
  const { quill } = (globalThis as unknown as { example: { quill: QuillOnPage } }).example
  const origin = quill.container.getBoundingClientRect()
  const text = quill.getText()
  return [...document.querySelectorAll('.ql-cursor')].map((cursor) => {
    const caret = cursor.querySelector('.ql-cursor-caret')?.getBoundingClientRect()
    const [left, top] = [(caret?.left ?? 0) - origin.left, (caret?.top ?? 0) - origin.top]
    const distance = (index: number): number => {
      const bounds = quill.getBounds(index)
      return Math.hypot(bounds.left - left, bounds.top - top)
    }
    const indexes = Array.from({ length: text.length }, (_, index) => index)
    const index = indexes.reduce((best, each) => (distance(each) < distance(best) ? each : best), 0)
    const name = cursor.querySelector('.ql-cursor-name')?.textContent ?? ''
    return { name, before: text.slice(text.lastIndexOf('\n', index - 1) + 1, index) }
  })
}

interface QuillOnPage {
  readonly container: HTMLElement
  getText(): string
  getBounds(index: number): { readonly left: number; readonly top: number }
}

const paragraphs = '<paragraph>One two three.</paragraph><paragraph>Four five six.</paragraph>'
const lines = 'One two three.\nFour five six.\n'

const examples: Record<string, Example> = {
  tiptap: { contentKey: 'default', type: 'xml', data: paragraphs, editor: '.tiptap', carets: caretsInText },
  codemirror: {
    contentKey: 'content',
    type: 'text',
    data: lines,
    editor: '.cm-content',
    carets: caretsInText,
  },
  quill: {
    contentKey: 'content',
    type: 'delta',
    data: [{ insert: lines }],
    editor: '.ql-editor',
    carets: caretsAboveText,
  },
}

let weft: TestServer
let browser: Browser

beforeAll(async () => {
  weft = await startTestServer()
  browser = await openBrowser()
}, 240_000)

afterAll(async () => {
  await browser?.close()
  await weft?.stop()
})

describe.each(Object.entries(examples))('the example %s in Chromium', (name, example) => {
  const ids = { organizationId: 'example', documentId: `carets-${name}` }
  let site: Site

  beforeAll(async () => {
    site = await startExample(name, weft)
  }, 240_000)

  afterAll(() => site?.child.kill())

  it('[PRES-33] draws the caret of a backend with the name at its text, and removes it when its time expires', async () => {
    const { contentKey, type, data, editor, carets } = example
    const post = async (path: string, request: object) =>
      dataOf(await weft.post(path, { ...ids, ...request }))
    await post('/v2/crdt/add', { editorId: 'main', contentKey, type, data })
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${site.url}/?name=Ada&room=example/${ids.documentId}/main`)
    await page.waitForSelector(`${editor}:has-text("One two")`)
    const shows = (expected: readonly Caret[], timeoutMs = 15_000): Promise<void> => {
      let found: readonly Caret[] = []
      return eventually(
        async () => {
          found = await page.evaluate(carets)
          return JSON.stringify(found) === JSON.stringify(expected)
        },
        () => [expected, found],
        timeoutMs,
      )
    }
    const show = (cursor: object, ttlSeconds = 60) =>
      post('/v2/presence/add', {
        users: [{ userId: 'bot', name: 'Writer', kind: 'agent', cursor }],
        ttlSeconds,
      })
    await show({ quote: 'two', at: 'end' })
    await shows([{ name: 'Writer', before: 'One two' }])
    await typeAtStart(page, editor)
    await shows([{ name: 'Writer', before: 'Zero One two' }])
    await show({ quote: 'Four five' })
    await shows([{ name: 'Writer', before: 'Four five' }])
    await show({ block: 1, at: 'end' })
    await shows([{ name: 'Writer', before: 'Four five six.' }])
    await show({ quote: 'three', at: 'start' }, 2)
    await shows([{ name: 'Writer', before: 'Zero One two ' }])
    await shows([])
    await show({ end: true })
    await shows([{ name: 'Writer', before: name === 'codemirror' ? '' : 'Four five six.' }])
    await context.close()
  }, 120_000)
})

async function typeAtStart(page: Page, editor: string): Promise<void> {
  await page.bringToFront()
  await page.click(editor)
  await page.keyboard.press('Control+Home')
  await page.keyboard.type('Zero ')
}
