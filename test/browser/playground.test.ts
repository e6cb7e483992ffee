import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/clients/clients.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { complaintsOf, openConsole, seriousFindings } from '../support/servers/console.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

const editor = (page: Page) => page.getByRole('textbox', { name: 'Shared document' })
/** Returns the text of the paragraphs, without the names at other users' cursors. */
const textOf = (page: Page): Promise<string> =>
  editor(page).evaluate((element) => {
    const copy = element.cloneNode(true) as HTMLElement
    for (const caret of copy.querySelectorAll('.caret')) caret.remove()
    return copy.textContent
  })
/** Returns the text before another user's cursor in its line. */
const beforeCaret = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const caret = document.querySelector('.ProseMirror .caret')
    const line = caret?.closest('p')
    if (caret === null || line == null) return ''
    const range = document.createRange()
    range.setStart(line, 0)
    range.setEndBefore(caret)
    return range.toString()
  })

/** The color that an element paints below its text. */
const paintedBelow = (element: Locator): Promise<string> =>
  element.evaluate((node) => getComputedStyle(node).backgroundColor)

async function popupOf(page: Page, button: string): Promise<Page> {
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: button }).click(),
  ])
  return popup
}

describe('the playground in Chromium', () => {
  let weft: TestServer
  let browser: Browser
  beforeAll(async () => {
    // Connections to documents that REST has not created are rejected.
    weft = await startTestServer({ createOnConnect: false, defaultAccess: 'restricted' })
    browser = await openBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await weft?.stop()
  })

  it('[CON-8] [CON-9] [CON-91] [CON-10] [DEF-6] opens two windows by one click each, syncs them, and moves no cursor when REST edits the text', async () => {
    const { page, complaints } = await openConsole(browser, weft, { route: '/overview' })
    const one = await popupOf(page, 'Open the playground')
    const ofOne = complaintsOf(one, weft.url)
    await one.getByText('Saved on the server').waitFor()
    expect(await textOf(one)).toContain('Welcome to Weft')
    const two = await popupOf(one, 'Open a second window')
    const ofTwo = complaintsOf(two, weft.url)
    await two.getByText('Saved on the server').waitFor()
    expect([one.url(), two.url()]).toEqual(Array(2).fill(`${weft.url}/console/playground`))

    await two.getByText('Open a second window, and type in both.').click()
    await two.keyboard.press('End')
    await two.keyboard.type(' Both see this.')
    await two.keyboard.press('Control+b')
    await two.keyboard.type(' Boldly.')
    const line = 'Open a second window, and type in both. Both see this. Boldly.'
    await eventually(async () => (await textOf(one)).includes(line))
    expect(await editor(one).locator('strong').textContent()).toContain('Boldly.')
    await eventually(async () => (await beforeCaret(one)) === line)
    const [own, other] = [two.locator('.people li').first(), one.locator('.people li').nth(1)]
    expect(await own.textContent()).toBe(`${await other.textContent()} (you)`)
    expect(await one.locator('.caret-name').textContent()).toBe(await other.textContent())
    await two.getByText('Saved on the server').waitFor()

    const edit = one.waitForRequest('**/v2/crdt/edit')
    await one.getByRole('button', { name: 'Rewrite by REST' }).click()
    await one.getByText('The sentence was written.').waitFor()
    await one.getByText('The call that this window made, with curl').click()
    expect(await one.locator('details pre').textContent()).toContain(`-d '${(await edit).postData()}'`)
    await eventually(async () => /^Rewritten by REST at [\d:]+\.Welcome/.test(await textOf(two)))
    expect(await beforeCaret(one)).toBe(line)
    expect(await two.evaluate(() => getSelection()?.anchorNode?.textContent)).toBe(' Boldly.')
    expect(await seriousFindings(one)).toEqual([])
    expect(await paintedBelow(one.getByText('Saved on the server'))).toBe('rgba(0, 0, 0, 0)')
    await two.emulateMedia({ colorScheme: 'dark' })
    expect(await paintedBelow(two.getByText('Saved on the server'))).toBe('rgba(0, 0, 0, 0)')
    expect(await seriousFindings(two)).toEqual([])

    await two.reload()
    await eventually(async () => (await textOf(two)).includes(line))
    expect(await own.textContent()).toBe(`${await other.textContent()} (you)`)
    expect([...complaints, ...ofOne, ...ofTwo]).toEqual([])
    await page.context().close()
  }, 30_000)

  it('[EDIT-10] keeps the caret and the words of a typing user when a backend edits the text around them', async () => {
    const address = { organizationId: 'playground', documentId: 'welcome', editorId: 'main' }
    const { page } = await openConsole(browser, weft, { route: '/overview' })
    const window = await popupOf(page, 'Open the playground')
    await window.getByText('Saved on the server').waitFor()
    const data = '<paragraph>First here. Second sentence.</paragraph>'
    dataOf(await weft.post('/v2/crdt/update', { ...address, type: 'xml', data }))
    await window.getByText('First here.').click()
    await window.keyboard.press('Home')
    for (let moved = 0; moved < 'First '.length; moved++) await window.keyboard.press('ArrowRight')
    const typing = window.keyboard.type('really and slowly ', { delay: 20 })
    const edits = [
      { insert: { before: { block: 0 }, content: 'Inserted before.' } },
      { replace: { find: 'Second sentence.', with: 'A new sentence.' } },
      { mark: { find: 'new', name: 'strong', value: {} } },
    ]
    dataOf(await weft.post('/v2/crdt/edit', { ...address, edits }))
    await typing
    await eventually(async () =>
      (await textOf(window)).endsWith('First really and slowly here. A new sentence.'),
    )
    expect(await textOf(window)).toContain('Inserted before.')
    expect(await editor(window).locator('strong').textContent()).toBe('new')
    expect(await window.evaluate(() => getSelection()?.anchorOffset)).toBe('First really and slowly '.length)
    await page.context().close()
  }, 30_000)

  itLong(
    '[CON-8] opens by a link without credentials and clears the address; without a link, shows what the user can do',
    async () => {
      const grant = {
        type: 'document',
        id: 'welcome',
        organizationId: 'playground',
        accessRole: 'editor',
      } as const
      const permissions = { resources: [grant] }
      const granted = { user: { userId: 'ada' }, permissions, createMissing: true }
      dataOf(await weft.post('/v2/auth/permissions/add', granted))
      const token = await weft.token('ada', permissions)
      const page = await (await browser.newContext()).newPage()
      const complaints = complaintsOf(page, weft.url)
      // Like a page that was loaded over HTTP from another host.
      await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
      await page.goto(`${weft.url}/console/playground`)
      await page.getByText('Open the playground from the console').waitFor()
      await page.goto(`${weft.url}/console/playground#name=Ada&token=${token}`)
      await page.getByText('Ada (you)').waitFor()
      await page.getByText('Saved on the server').waitFor()
      expect(page.url()).toBe(`${weft.url}/console/playground`)
      await page.getByRole('button', { name: 'Copy an invitation link' }).click()
      expect(await page.getByLabel('Link', { exact: true }).inputValue()).toContain(token)
      // Opens the link in a window that is already open.
      await page.goto(`${weft.url}/console/playground#name=Ada&token=wrong`)
      await page.getByText('The server closed the connection').waitFor()
      expect(complaints).toEqual([])
    },
  )
})
