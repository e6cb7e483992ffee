import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/clients/clients.ts'
import { agentToken, callsWith, codeOf } from '../support/servers/agents.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { runExample, type Site, startExample } from '../support/servers/examples.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

/** Values that the example exposes on the page. */
interface Held {
  provider: { connect(): void; disconnect(): void }
  editor: {
    state: {
      doc: {
        content: { size: number }
        descendants(each: (node: { text?: string }, position: number) => void): void
        textBetween(from: number, to: number, between: string): string
      }
      selection: { from: number }
    }
    chain(): { focus(): { setTextSelection(range: object): { run(): void } } }
  }
}

/** Selects words in the editor; with `isCursor` it only puts the cursor after them. */
async function select(page: Page, words: string, isCursor = false): Promise<void> {
  // A page in the background has no focus and draws nothing.
  await page.bringToFront()
  await page.focus('.tiptap')
  await page.evaluate(
    ([sought, cursorOnly]) => {
      const { editor } = (globalThis as unknown as { example: Held }).example
      let from = 0
      editor.state.doc.descendants(({ text = '' }, position) => {
        if (text.includes(sought)) from = position + text.indexOf(sought)
      })
      const to = from + sought.length
      const range = cursorOnly ? { from: to, to } : { from, to }
      editor.chain().focus().setTextSelection(range).run()
    },
    [words, isCursor] as const,
  )
}

const afterCursor = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { doc, selection } = (globalThis as unknown as { example: Held }).example.editor.state
    return doc.textBetween(selection.from, doc.content.size, '|')
  })

/** Returns the highlighted texts, one thread after the other, without carets of other users in them. */
const marked = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const words = new Map<string, string>()
    for (const element of document.querySelectorAll<HTMLElement>('.commented')) {
      const { thread = '' } = element.dataset
      const copy = element.cloneNode(true) as HTMLElement
      for (const caret of copy.querySelectorAll('.collaboration-carets__caret')) caret.remove()
      words.set(thread, (words.get(thread) ?? '') + copy.textContent)
    }
    return [...words.values()]
  })

const marks = async (page: Page, expected: readonly string[]): Promise<void> => {
  let found: string[] = []
  const areThere = async (): Promise<boolean> => {
    found = await marked(page)
    return JSON.stringify(found) === JSON.stringify(expected)
  }
  await eventually(areThere, () => found.join(', '))
}

const text = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { doc } = (globalThis as unknown as { example: Held }).example.editor.state
    return doc.textBetween(0, doc.content.size, '|')
  })
async function has(page: Page, selector: string, words: string): Promise<void> {
  let found: string | null = ''
  const isThere = async (): Promise<boolean> => {
    found = selector === '.tiptap' ? await text(page) : await page.textContent(selector)
    return found?.includes(words) === true
  }
  await eventually(isThere, () => found ?? '')
}

async function comment(page: Page, words: string, said: string): Promise<void> {
  await select(page, words)
  await page.click('#comment')
  await page.fill('#new textarea', said)
  await page.click('#new button')
}

describe('the Tiptap example in Chromium', () => {
  let weft: TestServer
  let site: Site
  let browser: Browser

  beforeAll(async () => {
    weft = await startTestServer()
    site = await startExample('tiptap', weft, { EXAMPLE_BOT_STEP_MS: '300' })
    browser = await openBrowser()
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    site?.child.kill()
    await weft?.stop()
  })

  /** @param schemaVersion version of the schema that the page announces; by default, none */
  async function open(name: string, room: string, schemaVersion?: number): Promise<Page> {
    const page = await (await browser.newContext()).newPage()
    if (schemaVersion !== undefined) {
      // The page appends the path to this URL.
      const url = `${weft.url}/hocuspocus?schemaVersion=${schemaVersion}&ignored=`
      await page.route('**/settings', (route) => route.fulfill({ json: { url } }))
    }
    await page.goto(`${site.url}/?name=${name}&room=example/${room}/main`)
    await page.waitForFunction(() =>
      /synced|saved/.test(document.querySelector('#status')?.textContent ?? ''),
    )
    return page
  }

  async function write(page: Page, words: string): Promise<void> {
    await page.click('.tiptap')
    await page.keyboard.type(words)
  }

  it('[EXA-2] keeps words, cursors and comments when a bot rewrites the text', async () => {
    const [ada, grace] = [await open('Ada', 'bot'), await open('Grace', 'bot')]
    await write(ada, 'teh quick brown fox jumps over the the lazy dog.')
    await has(grace, '.tiptap', 'lazy dog.')
    await comment(ada, 'lazy dog', 'Is it?')
    await has(grace, '#threads', 'Is it?')
    await marks(grace, ['lazy dog'])
    await select(grace, 'jumps', true)

    // Grace's page stays in the foreground.
    await ada.dispatchEvent('#bot', 'click')
    await has(grace, '#people', 'Editor bot · thinking')
    await grace.keyboard.type(' high')
    const tidied = 'The quick brown fox jumps high over the lazy dog.'
    for (const page of [ada, grace]) {
      await has(page, '#report', 'doubled words: the the')
      await has(page, '.tiptap', tidied)
      await marks(page, ['lazy dog'])
    }
    expect(await text(grace)).toMatch(/^Summary\|/)
    expect(await afterCursor(grace)).toBe(' over the lazy dog.')
    await eventually(async () => !(await ada.innerText('#people')).includes('Editor bot'))
  }, 60_000)

  it('[EXA-8] a suggester edits a branch that follows the document, and other users accept or reject each suggestion', async () => {
    const [ada, sue] = [await open('Ada', 'suggested'), await open('Sue', 'suggested')]
    await write(ada, 'One two three.')
    await has(sue, '.tiptap', 'One two three.')
    await sue.click('#suggest')
    await sue.waitForSelector('#suggest[aria-pressed="true"]')
    await has(sue, '.tiptap', 'One two three.')
    await select(sue, 'One')
    await sue.keyboard.type('Uno')
    await select(sue, 'three')
    await sue.keyboard.type('tres')
    await has(sue, '.tiptap', 'Uno two tres.')
    // The letters arrive one by one.
    const shown = () => ada.locator('.weft-deletion, .weft-suggestion-widget ins').allTextContents()
    await eventually(async () => (await shown()).join() === 'One,Uno,hree,res')
    expect(await ada.locator('.weft-suggestion-widget').count()).toBe(2)
    expect(await text(ada)).toBe('One two three.')
    await select(ada, 'two', true)
    await ada.keyboard.type(' and')
    await has(sue, '.tiptap', 'Uno two and tres.')
    await ada.locator('.weft-suggestion-widget').nth(1).getByRole('button', { name: 'Accept' }).click()
    await has(ada, '.tiptap', 'One two and tres.')
    await eventually(async () => (await ada.locator('.weft-suggestion-widget').count()) === 1)
    await ada.getByRole('button', { name: 'Reject' }).click()
    await has(sue, '.tiptap', 'One two and tres.')
    await eventually(async () => (await ada.locator('.weft-suggestion-widget').count()) === 0)
    expect(await text(ada)).toBe('One two and tres.')
  }, 60_000)

  it('[EXA-10] the agent replies to a comment that mentions it, with a suggestion that a user accepts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weft-mentions-'))
    const settings = { EXAMPLE_CURSOR_FILE: join(folder, 'cursor'), OPENAI_BASE_URL: '' }
    const host = await runExample('agent-mentions', weft, ['main.js'], settings)
    try {
      await eventually(
        () => host.out().includes('Waiting for comments'),
        () => host.out(),
        20_000,
      )
      const [ada, grace] = [await open('Ada', 'mentions'), await open('Grace', 'mentions')]
      await write(ada, 'We meet on monday. The monday after is free.')
      await has(grace, '.tiptap', 'is free.')
      await comment(ada, 'We meet on monday.', '@agent Is the spelling right?')
      await has(grace, '#threads', 'Agent I would change this:')
      await has(grace, '#threads', '“We meet on monday.” → “We meet on Monday.”')
      await eventually(async () => (await grace.locator('.weft-suggestion-widget').count()) === 1)
      expect(await text(grace)).toBe('We meet on monday. The monday after is free.')
      await grace.getByRole('button', { name: 'Accept' }).click()
      for (const page of [ada, grace])
        await has(page, '.tiptap', 'We meet on Monday. The monday after is free.')
    } finally {
      host.child.kill('SIGTERM')
      await host.ended
      await rm(folder, { recursive: true })
    }
  }, 60_000)

  const editorOf = (documentId: string) => ({ organizationId: 'example', documentId, editorId: 'main' })
  const call = async (operation: string, data: object): Promise<unknown> =>
    dataOf(await weft.post(`/v2/${operation}`, data))
  const xmlOf = async (documentId: string): Promise<string> =>
    ((await call('crdt/get', { ...editorOf(documentId), format: 'xml' })) as [{ data: string }])[0].data
  const is = async (pages: readonly Page[], expected: string): Promise<void> => {
    for (const page of pages) {
      let found = ''
      const isShown = async (): Promise<boolean> => {
        found = await text(page)
        return found === expected
      }
      await eventually(isShown, () => [found, expected])
    }
  }

  it('[PRUNE-3] [PRUNE-7] [COPY-4] a prune keeps what two users type, one of them offline, with the words of comments, and a copy opens', async () => {
    const [ada, grace] = [await open('Ada', 'pruned'), await open('Grace', 'pruned')]
    await write(ada, 'Zero. One two three. Four.')
    await is([grace], 'Zero. One two three. Four.')
    await comment(ada, 'two three', 'Are they?')
    await marks(grace, ['two three'])
    await grace.evaluate(() => (globalThis as unknown as { example: Held }).example.provider.disconnect())
    await has(grace, '#status', 'offline')
    await select(grace, 'three', true)
    await grace.keyboard.type(' and a half')
    await select(ada, 'Zero. ')
    await ada.keyboard.press('Delete')
    await select(ada, 'Four.', true)
    const pruning = call('crdt/prune', editorOf('pruned'))
    await ada.keyboard.type(' Five.')
    expect(await pruning).toMatchObject({ generation: 1 })
    await grace.evaluate(() => (globalThis as unknown as { example: Held }).example.provider.connect())
    // Letters that Ada typed just then may be at other places, because a prune moves her cursor.
    const letters = (words: string): string => words.split('').toSorted().join('')
    for (const page of [ada, grace]) await has(page, '.tiptap', 'One two three and a half.')
    await eventually(
      async () => letters(await text(grace)) === letters('One two three and a half. Four. Five.'),
      () => 'letters are missing or doubled',
    )
    for (const page of [ada, grace]) await marks(page, ['two three'])
    await select(grace, 'a half.', true)
    await grace.keyboard.type(' Six.')
    await has(ada, '.tiptap', 'One two three and a half. Six.')
    const whole = await text(grace)
    await is([ada, grace, await open('Linus', 'pruned')], whole)
    await call('crdt/copy', { ...editorOf('copied'), from: editorOf('pruned'), withComments: true })
    const copied = await open('Ada', 'copied')
    await is([copied], whole)
    await marks(copied, ['two three'])
    await select(copied, 'Six.', true)
    await copied.keyboard.type(' Copied.')
    await eventually(async () => (await xmlOf('copied')).includes('Copied.'))
    expect(await text(ada)).toBe(whole)
  }, 60_000)

  it('[DEL-1] a restored document gets what a user typed offline while it was deleted', async () => {
    const [ada, grace] = [await open('Ada', 'restored'), await open('Grace', 'restored')]
    await write(ada, 'One. Two.')
    await is([grace], 'One. Two.')
    await comment(ada, 'Two', 'Is it?')
    await marks(grace, ['Two'])
    const connection = (page: Page, isOnline: boolean): Promise<void> =>
      page.evaluate((online) => {
        const { provider } = (globalThis as unknown as { example: Held }).example
        if (online) provider.connect()
        else provider.disconnect()
      }, isOnline)
    await connection(grace, false)
    await has(grace, '#status', 'offline')
    await select(grace, 'One', true)
    await grace.keyboard.type(' and a half')
    const { organizationId, documentId } = editorOf('restored')
    await call('organizations/documents/delete', { organizationId, documentIds: [documentId] })
    await has(ada, '#status', 'offline')
    const [deletion] = (await call('workspace/deleted/get', { organizationId })) as [{ deletionId: string }]
    await call('workspace/deleted/restore', { deletionId: deletion.deletionId })
    for (const page of [ada, grace]) await connection(page, true)
    await is([ada, grace], 'One and a half. Two.')
    for (const page of [ada, grace]) await marks(page, ['Two'])
    expect(await xmlOf('restored')).toBe('<paragraph>One and a half. Two.</paragraph>')
  }, 60_000)

  const lines = (name: string) => ({
    nodes: {
      doc: { content: '(paragraph | heading)+' },
      paragraph: { content: 'text*' },
      heading: { content: 'text*', attributes: { level: { default: 1 } } },
      text: {},
    },
    marks: { code: {} },
    contentKey: 'default',
    ...(name === 'protected' && { protected: ['code'] }),
  })

  it('[FMT-207] [FMT-208] a migration renames a node in open editors, and an older page shows why it only views', async () => {
    const name = 'lines'
    await call('crdt/schemas/set', { name, schema: lines(name) })
    const data = '<heading level="2">Title</heading><paragraph>Body.</paragraph>'
    await call('crdt/add', { ...editorOf('migrated'), schema: name, type: 'xml', data })
    const [ada, vera] = [await open('Ada', 'migrated', 2), await open('Vera', 'migrated', 1)]
    await select(vera, 'Body.', true)
    await vera.keyboard.type(' Vera.')
    await is([ada], 'Title|Body. Vera.')
    await call('crdt/schemas/set', { name, schema: lines(name), version: 2 })
    const rules = [
      { rule: 'renameNode', name: 'heading', to: 'paragraph' },
      { rule: 'dropAttribute', node: 'paragraph', name: 'level' },
    ]
    await call('crdt/schemas/migrate', { name, toVersion: 2, rules })
    for (const page of [ada, vera])
      await eventually(async () => (await page.locator('.tiptap h2').count()) === 0)
    await select(ada, 'Title', true)
    await ada.keyboard.type(' of Ada')
    await is([vera], 'Title of Ada|Body. Vera.')
    await select(vera, 'Body.', true)
    await vera.keyboard.type(' Lost.')
    await has(vera, '#status', 'the document has a newer schema')
    await select(ada, 'Body.', true)
    await ada.keyboard.type(' Kept.')
    await eventually(async () => (await xmlOf('migrated')).includes('Kept.'))
    expect(await xmlOf('migrated')).toBe(
      '<paragraph>Title of Ada</paragraph><paragraph>Body. Kept. Vera.</paragraph>',
    )
  }, 60_000)

  it('[AGT-26] an agent cannot change a protected mark while a user edits it', async () => {
    const name = 'protected'
    await call('crdt/schemas/set', { name, schema: lines(name) })
    const data = '<paragraph>We pay <code>100 euros</code> each month.</paragraph>'
    await call('crdt/add', { ...editorOf(name), schema: name, type: 'xml', data })
    const agent = callsWith(weft, await agentToken(weft, 'bot'))
    const edit = (find: string) =>
      agent('/v2/crdt/edit', { ...editorOf(name), edits: [{ replace: { find, with: 'nothing' } }] })
    const ada = await open('Ada', name)
    await select(ada, '100', true)
    await ada.keyboard.type('0')
    const [rejected, made] = [await edit('euros'), await edit('each month')]
    await ada.keyboard.type('0')
    expect([codeOf(rejected), made.status]).toEqual(['agent/protected-content', 200])
    await is([ada], 'We pay 10000 euros nothing.')
    await eventually(
      async () => (await xmlOf(name)) === '<paragraph>We pay <code>10000 euros</code> nothing.</paragraph>',
    )
  }, 60_000)

  itLong(
    '[EXA-1] shows all users the comments at their words, the replies, and the resolution of a comment',
    async () => {
      const [ada, grace] = [await open('Ada', 'comments'), await open('Grace', 'comments')]
      await write(ada, 'First things first, and nothing last.')
      await comment(ada, 'First things', 'Which ones?')
      await comment(ada, 'nothing last', 'Really?')
      await marks(grace, ['First things', 'nothing last'])

      await select(grace, 'First', true)
      await grace.keyboard.type(' few')
      for (const page of [ada, grace]) await marks(page, ['First few things', 'nothing last'])
      // Text that is typed next to the words does not belong to the comment.
      await select(ada, 'First few things', true)
      await ada.keyboard.type(' come')
      await has(grace, '.tiptap', 'First few things come first')
      for (const page of [ada, grace]) await marks(page, ['First few things', 'nothing last'])

      await grace.fill('.thread:first-child input', 'All of them.')
      await grace.click('.thread:first-child form button')
      await has(ada, '.thread:first-child', 'Grace All of them.')

      await select(ada, 'nothing last')
      await ada.keyboard.press('Delete')
      for (const page of [ada, grace]) await has(page, '.thread:last-child', 'These words are gone.')

      await grace.click('.thread:first-child .plain')
      await eventually(async () => (await ada.locator('.thread').count()) === 1)
      const late = await open('Linus', 'comments')
      await has(late, '#threads', 'Really?')
      await marks(late, [])
    },
    60_000,
  )
})

interface Tidying {
  readonly tidy: (xml: string) => { readonly edits: readonly object[]; readonly changes: readonly string[] }
}

describe('the edits of the bot', () => {
  const editor = { organizationId: 'acme', documentId: 'tidied', editorId: 'main', contentKey: 'default' }
  let weft: TestServer
  beforeAll(async () => {
    weft = await startTestServer()
  })
  afterAll(() => weft?.stop())

  it('[EXA-3] changes neither text that is already tidy nor code', async () => {
    const file = join(import.meta.dirname, '../..', 'examples', 'tiptap', 'tidy.js')
    const { tidy } = (await import(pathToFileURL(file).href)) as Tidying
    const read = async (): Promise<string> => {
      const [content] = dataOf(await weft.post('/v2/crdt/get', editor)) as { data: string }[]
      return content?.data ?? ''
    }
    const code = '<codeBlock>teh  cat</codeBlock>'
    const data =
      '<heading level="1">teh title</heading><paragraph>i <bold>said said</bold> "go"... now &amp; then <code>teh teh</code></paragraph>' +
      `${code}<paragraph>teh cat</paragraph><paragraph>  </paragraph><paragraph>adn &lt;b&gt; <hardBreak/>teh cat</paragraph>`
    dataOf(await weft.post('/v2/crdt/add', { ...editor, type: 'xml', data }))
    const { edits, changes } = tidy(await read())
    expect(changes).toContain('doubled words: said said')
    dataOf(await weft.post('/v2/crdt/edit', { ...editor, edits }))
    const tidied = await read()
    expect(tidied).toMatch(/^<heading level="2">Summary<\/heading><paragraph>[^<]+<\/paragraph><heading/)
    expect(tidied.slice(tidied.indexOf('<heading level="1">'))).toBe(
      '<heading level="1">The title</heading><paragraph>I <bold>said</bold> “go”… Now &amp; then <code>teh teh</code></paragraph>' +
        `${code}<paragraph>The cat</paragraph><paragraph>  </paragraph><paragraph>And &lt;b&gt; <hardBreak/>The cat</paragraph>`,
    )
    expect(tidy(tidied)).toEqual({ edits: [], changes: [] })
    expect(tidy('<paragraph/>')).toEqual({ edits: [], changes: [] })
    // The summary of a text without words is removed.
    const summary = tidied.slice(0, tidied.indexOf('<heading level="1">'))
    const emptied = `${summary}<paragraph/>`
    dataOf(await weft.post('/v2/crdt/update', { ...editor, type: 'xml', data: emptied }))
    dataOf(await weft.post('/v2/crdt/edit', { ...editor, edits: tidy(emptied).edits }))
    expect(await read()).toBe('<paragraph/>')
  })
})
