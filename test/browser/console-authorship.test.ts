import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
  /** A document with text of Ann, a saved version, and then text of Bob. */
  async function written(documentId: string): Promise<void> {
    await call('/v2/crdt/add', { ...addressOf(documentId), type: 'text', data: '' })
    await type(documentId, 'ann', 0, 'Ann writes.')
    await call('/v2/crdt/versions/create', { ...addressOf(documentId), label: 'first' })
    await type(documentId, 'bob', 3, ' and Bob')
  }
  const backgroundOf = (element: Locator): Promise<string> =>
    element.evaluate((found) => getComputedStyle(found).backgroundColor)

  it('[CON-75] [CON-52] shows the text of two authors in the colors of the legend, and emphasizes one of them', async () => {
    await written('colors')
    const { page, complaints } = await openConsole(browser, weft, {
      route: '/documents/acme/colors/main/authors',
    })
    const content = page.getByRole('region', { name: 'Content by author' })
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
    expect(await parts.nth(1).getAttribute('title')).toMatch(/^bob, .*, typed in an editor$/)
    await legend.getByRole('button', { name: 'bob' }).press('Enter')
    expect(await content.locator('.dimmed').allTextContents()).toEqual(['Ann', ' writes.'])
    expect(await findingsInBothSchemes(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('[CON-76] [CON-77] [CON-78] [CON-52] shows changes on a timeline, compares versions, and undoes a change after a dry run', async () => {
    await written('undone')
    await call('/v2/crdt/versions/create', { ...addressOf('undone'), label: 'second' })
    await type('undone', 'cem', 0, 'Yes, ')
    const { page, complaints } = await openConsole(browser, weft, {
      route: '/documents/acme/undone/main/history',
    })
    const scrubber = page.getByRole('slider', { name: 'Timeline' })
    await scrubber.waitFor()
    const descriptions: (string | null)[] = []
    await scrubber.press('Home')
    for (let at = 0; at < 4; at++) {
      descriptions.push(await scrubber.getAttribute('aria-valuetext'))
      await scrubber.press('ArrowRight')
    }
    expect(descriptions).toEqual([
      'saved version: first',
      expect.stringMatching(/^bob, .*8 inserted, 0 deleted$/),
      'saved version: second',
      expect.stringMatching(/^cem, .*5 inserted, 0 deleted$/),
    ])
    const difference = page.getByRole('region', { name: 'Difference' })
    expect(await difference.locator('ins').allTextContents()).toEqual(['+Yes, ', '+ and Bob'])
    await page.getByLabel('To', { exact: true }).selectOption({ label: 'second' })
    await eventually(
      async () => JSON.stringify(await difference.locator('ins').allTextContents()) === '["+ and Bob"]',
    )
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('button', { name: 'Undo the change of bob…' }).click()
    const card = page.getByRole('region', { name: 'Undo' })
    await card.getByText('The change would be undone.').waitFor()
    expect(await textOf('undone')).toBe('Yes, Ann and Bob writes.')
    await card.getByRole('button', { name: 'Undo the change' }).click()
    await card.getByText('Undone.').waitFor()
    expect(await textOf('undone')).toBe('Yes, Ann writes.')
    await card.getByRole('button', { name: 'Look again' }).click()
    await card.getByText('This would change nothing.').waitFor()
    expect(await findingsInBothSchemes(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('[CON-78] names the parts that an undo would leave, with the reason', async () => {
    const editor = { ...addressOf('left'), type: 'map' }
    await call('/v2/crdt/add', { ...editor, data: { color: 'red' }, userId: 'ann' })
    await call('/v2/crdt/versions/create', addressOf('left'))
    await call('/v2/crdt/update', { ...editor, data: { color: 'blue' }, userId: 'bob' })
    await call('/v2/crdt/versions/create', { ...addressOf('left'), label: 'of bob' })
    await call('/v2/crdt/update', { ...editor, data: { color: 'green' }, userId: 'ann' })
    const { page } = await openConsole(browser, weft, { route: '/documents/acme/left/main/history' })
    await page.getByLabel('To', { exact: true }).selectOption({ label: 'of bob' })
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('button', { name: 'Undo the change of bob…' }).click()
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
