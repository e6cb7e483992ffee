import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { eventually, syncedEditor } from '../support/clients/clients.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { findingsInBothSchemes, openConsole } from '../support/servers/console.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'

describe('authorship in the console', () => {
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

  const call = async (path: string, data: object): Promise<unknown> => dataOf(await weft.post(path, data))
  const addressOf = (documentId: string) => ({ organizationId: 'acme', documentId, editorId: 'main' })
  const textOf = async (documentId: string): Promise<string> => {
    const [{ data }] = (await call('/v2/crdt/get', addressOf(documentId))) as [{ data: string }]
    return data
  }
  /** Inserts text as a user of an editor. */
  async function type(documentId: string, userId: string, at: number, text: string): Promise<void> {
    const editor = await syncedEditor(weft.wsUrl, `acme/${documentId}/main`, await weft.token(userId))
    editor.text.insert(at, text)
    await eventually(async () => (await textOf(documentId)) === editor.text.toString())
    editor.close()
  }
  /** A document with text of Ann, and then text of Bob. */
  async function written(documentId: string): Promise<void> {
    await call('/v2/crdt/add', { ...addressOf(documentId), type: 'text', data: '' })
    await type(documentId, 'ann', 0, 'Ann writes.')
    await type(documentId, 'bob', 3, ' and Bob')
  }
  const backgroundOf = (element: Locator): Promise<string> =>
    element.evaluate((found) => getComputedStyle(found).backgroundColor)

  it('[CON-75] [CON-52] shows a text with the colors of the legend, and emphasizes one author', async () => {
    await written('colors')
    const { page, complaints } = await openConsole(browser, weft, { route: '/documents/acme/colors/main' })
    const content = page.getByRole('region', { name: 'Document' })
    await content.waitFor()
    expect(await content.textContent()).toBe('Ann and Bob writes.')
    const legend = page.getByRole('list', { name: 'Authors' })
    const colorOf = async (userId: string) => backgroundOf(legend.getByRole('button', { name: userId }))
    const parts = content.locator('.author')
    expect(await parts.allTextContents()).toEqual(['Ann', ' and Bob', ' writes.'])
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme })
      const [ann, bob] = [await colorOf('ann'), await colorOf('bob')]
      expect(ann).not.toBe(bob)
      expect(await Promise.all((await parts.all()).map(backgroundOf))).toEqual([ann, bob, ann])
    }
    await legend.getByRole('button', { name: 'bob' }).press('Enter')
    expect(await content.locator('.dimmed').allTextContents()).toEqual(['Ann', ' writes.'])
    expect(await findingsInBothSchemes(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('[CON-75] [CON-52] shows rich text, Markdown and JSON as a reader sees them', async () => {
    const markdown = '# Notes\n\nWe **ship**, see [plan](https://example.com).\n\n- one\n\n```\nlet a\n```\n'
    const rich =
      '<heading level="2">Plan</heading><bulletList><listItem><paragraph>One <strong>bold</strong> word</paragraph></listItem></bulletList><horizontalRule></horizontalRule>'
    const data = { name: 'Weft', tags: ['a', 'b'] }
    await call('/v2/crdt/add', { ...addressOf('markdown'), type: 'text', data: markdown, userId: 'ann' })
    await call('/v2/crdt/add', { ...addressOf('rich'), type: 'xml', data: rich, userId: 'ann' })
    await call('/v2/crdt/add', { ...addressOf('json'), type: 'map', data, userId: 'ann' })
    const { page, complaints, visit } = await openConsole(browser, weft, {
      route: '/documents/acme/markdown',
    })
    const content = page.getByRole('region', { name: 'Document' })
    await content.getByRole('heading', { name: 'Notes', level: 1 }).waitFor()
    expect(await content.textContent()).toBe('NotesWe ship, see plan.onelet a')
    expect(await content.locator('.bold').textContent()).toBe('ship')
    expect(await content.locator('pre', { hasText: 'let a' }).count()).toBe(1)
    expect(await findingsInBothSchemes(page)).toEqual([])
    await visit('/documents/acme/rich')
    await content.getByRole('heading', { name: 'Plan', level: 2 }).waitFor()
    expect(await content.getByRole('listitem').textContent()).toBe('One bold word')
    expect(await content.locator('.bold, strong').textContent()).toBe('bold')
    expect(await content.getByRole('separator').count()).toBe(1)
    expect(await findingsInBothSchemes(page)).toEqual([])
    await visit('/documents/acme/json')
    await content.getByText('name:').waitFor()
    expect(await content.getByRole('listitem').allTextContents()).toEqual(['name: Weft', 'tags: ["a","b"]'])
    expect(await findingsInBothSchemes(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('[CON-92] [CON-93] [CON-52] follows edits with the cursors of users, and states the author and the call of a selected passage', async () => {
    const meta = { job: 'summary-17' }
    await call('/v2/crdt/add', {
      ...addressOf('passages'),
      type: 'text',
      data: 'One. ',
      userId: 'agent',
      meta,
    })
    const { page, complaints } = await openConsole(browser, weft, { route: '/documents/acme/passages/main' })
    const content = page.getByRole('region', { name: 'Document' })
    await content.getByText('One. ').waitFor()
    const editor = await syncedEditor(
      weft.wsUrl,
      'acme/passages/main',
      await weft.token('ann', { name: 'Ann' }),
    )
    editor.text.insert(5, 'Two.')
    const position = Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(editor.text, 5))
    editor.provider.awareness.setLocalState({
      user: { name: 'Ann', color: '#c02020' },
      cursor: { anchor: position, head: position },
    })
    await content.getByText('cursor of Ann').waitFor()
    expect(await content.textContent()).toBe('One. cursor of AnnTwo.')
    // The author of the live edit is known after the next read of the history.
    await page.getByRole('list', { name: 'Authors' }).getByRole('button', { name: 'ann' }).waitFor()
    const here = page.getByRole('list', { name: 'Here now' })
    await here.getByText(/^last change .*2\d\d\d/).waitFor()
    expect(await here.textContent()).toContain('at “One. |Two.”')
    await content.getByText('One. ').click()
    const card = page.getByRole('region', { name: 'Selected passage' })
    await card.getByText(/^By agent, .*, written by the REST API, \{"job":"summary-17"\}\.$/).waitFor()
    await content.press('ArrowRight')
    await card.getByText(/^By ann, .*, typed in an editor\.$/).waitFor()
    expect(await content.locator('.selected').textContent()).toBe('Two.')
    expect(await findingsInBothSchemes(page)).toEqual([])
    expect(complaints).toEqual([])
    editor.close()
  })

  it('[CON-76] [CON-77] [CON-52] plays a document from its first change without a saved version, and shows two moments side by side', async () => {
    await call('/v2/crdt/add', { ...addressOf('played'), type: 'text', data: 'We meet.', userId: 'ann' })
    await type('played', 'bob', 7, ' on Monday')
    const replaced = [{ replace: { find: 'Monday', with: 'Friday' } }]
    await call('/v2/crdt/edit', { ...addressOf('played'), userId: 'cem', edits: replaced })
    const { page, complaints } = await openConsole(browser, weft, { route: '/documents/acme/played/main' })
    const content = page.getByRole('region', { name: 'Document' })
    const slider = page.getByRole('slider', { name: 'Moment' })
    await content.getByText('We meet').waitFor()
    await slider.press('Home')
    const shown: (string | null)[] = []
    for (let at = 0; at < 4; at++) {
      shown.push(await slider.getAttribute('aria-valuetext'), await content.textContent())
      await slider.press('ArrowRight')
    }
    expect(shown).toEqual([
      'Before the first change',
      'The document is empty at this moment.',
      expect.stringMatching(/^After change 1 of 3: ann, .*written by the REST API$/),
      'We meet.',
      expect.stringMatching(/^After change 2 of 3: bob, .*typed in an editor$/),
      'We meet on Monday.',
      expect.stringMatching(/^Now, after change 3 of 3: cem, /),
      'We meet on Friday.',
    ])
    await page.getByLabel('Speed').selectOption('20×')
    await page.getByRole('button', { name: 'Play' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByRole('button', { name: 'Play' }).waitFor()
    expect(await content.textContent()).toBe('We meet on Friday.')
    await page.getByLabel('Compare two moments').click()
    await page.getByRole('slider', { name: 'Earlier' }).press('Home')
    await page.getByRole('slider', { name: 'Earlier' }).press('ArrowRight')
    const later = page.getByRole('region', { name: 'Later moment' })
    expect(await page.getByRole('region', { name: 'Earlier moment' }).textContent()).toBe('We meet.')
    expect((await later.locator('ins').allTextContents()).join('')).toContain('+ on ')
    await page.getByRole('slider', { name: 'Earlier' }).press('ArrowRight')
    const removed = page.getByRole('region', { name: 'Earlier moment' }).locator('del')
    expect(await removed.allTextContents()).toEqual(['−Mon'])
    expect(await later.locator('ins').allTextContents()).toEqual(['+Fri'])
    expect(await findingsInBothSchemes(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('[CON-78] [CON-52] undoes one change, and all changes of an author, after a preview', async () => {
    await written('undone')
    await call('/v2/crdt/edit', {
      ...addressOf('undone'),
      userId: 'bob',
      meta: { second: true },
      edits: [{ insert: { at: 'end', content: ' And more.' } }],
    })
    const { page, complaints } = await openConsole(browser, weft, { route: '/documents/acme/undone/main' })
    const content = page.getByRole('region', { name: 'Document' })
    const card = page.getByRole('region', { name: 'Undo' })
    await content.getByText(' And more.').click()
    await page.getByRole('button', { name: 'Undo this change…' }).click()
    await card.getByText('This would be undone.').waitFor()
    expect(await content.locator('del').allTextContents()).toEqual(['− And more.'])
    expect(await textOf('undone')).toBe('Ann and Bob writes. And more.')
    expect(await findingsInBothSchemes(page)).toEqual([])
    await card.getByRole('button', { name: 'Undo', exact: true }).click()
    await card.getByText('Undone.').waitFor()
    expect(await textOf('undone')).toBe('Ann and Bob writes.')
    await card.getByRole('button', { name: 'Preview again' }).click()
    await card.getByText('This would change nothing.').waitFor()
    await card.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('list', { name: 'Authors' }).getByRole('button', { name: 'bob' }).click()
    await page.getByRole('button', { name: 'Undo all changes of bob…' }).click()
    await card.getByText('This would be undone.').waitFor()
    expect(await content.locator('del').allTextContents()).toEqual(['− and Bob'])
    await card.getByRole('button', { name: 'Undo', exact: true }).click()
    await card.getByText('Undone.').waitFor()
    expect(await textOf('undone')).toBe('Ann writes.')
    expect(complaints).toEqual([])
  })

  it('[CON-78] names the parts that an undo would leave, with the reason', async () => {
    const editor = { ...addressOf('left'), type: 'map' }
    await call('/v2/crdt/add', { ...editor, data: { color: 'red' }, userId: 'ann', meta: { call: 1 } })
    await call('/v2/crdt/update', { ...editor, data: { color: 'blue' }, userId: 'bob' })
    await call('/v2/crdt/update', { ...editor, data: { color: 'green' }, userId: 'ann', meta: { call: 2 } })
    const { page } = await openConsole(browser, weft, { route: '/documents/acme/left/main' })
    await page.getByRole('slider', { name: 'Moment' }).press('ArrowLeft')
    await page.getByRole('region', { name: 'Document' }).getByText('blue').click()
    await page.getByRole('button', { name: 'Undo this change…' }).click()
    const card = page.getByRole('region', { name: 'Undo' })
    await card.getByText('This would change nothing.').waitFor()
    await card.getByText('These parts stay:').waitFor()
    expect(await card.getByRole('listitem').first().textContent()).toContain('blue')
  })

  it('[CON-79] [CON-52] creates a branch, accepts and rejects its changes one by one, and deletes it', async () => {
    await call('/v2/crdt/add', { ...addressOf('branched'), type: 'text', data: 'One two three.' })
    const { page, complaints } = await openConsole(browser, weft, {
      route: '/documents/acme/branched/main/branches',
    })
    await page.getByLabel('Name of a new branch').fill('ideas')
    await page.getByLabel('User').fill('sue')
    await page.getByRole('button', { name: 'Create the branch' }).click()
    await page.getByRole('link', { name: 'ideas' }).waitFor()
    const branch = { ...addressOf('branched'), editorId: 'main@ideas' }
    for (const [find, content] of [
      ['One', '1'],
      ['three', '3'],
    ])
      await call('/v2/crdt/edit', {
        ...branch,
        userId: 'sue',
        edits: [{ replace: { find, with: content } }],
      })
    await page.getByRole('button', { name: 'Review ideas' }).click()
    const card = page.getByRole('region', { name: 'Review of ideas' })
    await card.getByRole('button', { name: 'Accept change 2' }).waitFor()
    expect(await card.locator('del').allTextContents()).toEqual(['−One', '−three'])
    expect(await card.locator('ins').allTextContents()).toEqual(['+1', '+3'])
    expect(await findingsInBothSchemes(page)).toEqual([])
    await card.getByRole('button', { name: 'Accept change 2' }).click()
    await card.getByText('Accepted: 1 change.').waitFor()
    expect(await textOf('branched')).toBe('One two 3.')
    await card.getByRole('button', { name: 'Reject change 1' }).click()
    await card.getByText('Rejected: 1 change.').waitFor()
    await card.getByText('The branch has no changes.').waitFor()
    expect(await textOf('branched')).toBe('One two 3.')
    await card.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Delete ideas' }).click()
    await page.getByRole('button', { name: 'Delete the branch' }).click()
    await page.getByText('No branches yet.').waitFor()
    expect(complaints).toEqual([])
  })
})
