import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type Editor, eventually, RawClient, syncedEditor } from '../support/clients/clients.ts'
import { pageSocket } from '../support/clients/page-sockets.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { findingsInBothSchemes, openConsole, seriousFindings } from '../support/servers/console.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

describe('the console for operators, in Chromium', () => {
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

  const connect = async (userId: string, path: string): Promise<RawClient> => {
    const token = await weft.token(userId, { name: userId.toUpperCase() })
    const client = await RawClient.connect(`${weft.wsUrl}/sync/${path}?token=${token}`)
    await client.roundTrip()
    return client
  }

  itLong('[CON-67] lists the connected clients live, filters them, and disconnects one', async () => {
    const ada = await connect('ada', 'acme/plan/main')
    const shown = await openConsole(browser, weft, { route: '/connections', width: 400 })
    const { page } = shown
    const row = (text: string) => page.getByRole('row').filter({ hasText: text })
    await row('ADA').getByRole('link', { name: 'plan' }).waitFor()
    await row('ADA').getByText('websocket', { exact: true }).waitFor()
    const Socket = await pageSocket({ WebSocket: null })
    const eve = new Socket(`${weft.wsUrl}/sync/acme/plan/main?token=${await weft.token('eve')}`)
    await row('eve').getByText('HTTP', { exact: true }).waitFor()
    eve.close()
    await row('eve').waitFor({ state: 'detached' })
    const bob = await connect('bob', 'acme/other/main')
    await row('BOB').getByText('127.0.0.1').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.getByLabel('User id').fill('bob')
    await page.getByRole('button', { name: 'Filter' }).click()
    await row('ADA').waitFor({ state: 'detached' })
    await row('BOB').getByRole('button', { name: 'Disconnect' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('with code 4403').waitFor()
    await dialog.getByLabel('Let the client connect again immediately').check()
    await dialog.getByRole('button', { name: 'Disconnect' }).click()
    expect((await bob.closed).code).toBe(1012)
    await page.getByText('No connected client matches these filters.').waitFor()
    await page.getByLabel('User id').fill('')
    await page.getByRole('button', { name: 'Filter' }).click()
    await row('ADA').getByRole('button', { name: 'Disconnect' }).click()
    await dialog.getByRole('button', { name: 'Disconnect' }).click()
    expect((await ada.closed).code).toBe(4403)
    await row('ADA').waitFor({ state: 'detached' })
    expect(shown.complaints).toEqual([])
    await page.context().close()
  })

  it('[CON-94] shows the link of the current page on a phone, and a button on each empty page that fills it', async () => {
    const empty = await startTestServer()
    const { page, visit, complaints } = await openConsole(browser, empty, { route: '/keys', width: 400 })
    const menu = page.getByRole('navigation', { name: 'Sections' })
    for (const [route, title, button] of [
      ['/keys', 'Keys and domains', null],
      ['/connections', 'Connections', 'Open the playground'],
      ['/users', 'Users and groups', 'Create a document'],
      ['/folders', 'Folders', 'Create a document'],
      ['/documents', 'Documents', 'New document'],
    ] as const) {
      await visit(route)
      const link = menu.getByRole('link', { name: title, exact: true })
      await eventually(async () => {
        const box = await link.boundingBox()
        return box !== null && box.x >= 0 && box.x + box.width <= 400
      })
      const main = page.getByRole('main')
      if (button !== null)
        await main
          .getByRole('button', { name: button })
          .or(main.getByRole('link', { name: button }))
          .waitFor()
    }
    await page.getByRole('button', { name: 'New document' }).click()
    await page.getByRole('textbox', { name: 'Organization id' }).last().fill('acme')
    await page.getByLabel('Document id').fill('first')
    await page.getByRole('button', { name: 'Make the document' }).click()
    await page.getByRole('region', { name: 'Document' }).waitFor()
    expect(await findingsInBothSchemes(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
    await empty.stop()
  })

  itLong(
    '[CON-68] shows rejections with their reasons in the overview, and lists and filters all requests live',
    async () => {
      const shown = await openConsole(browser, weft, { route: '/overview', width: 400 })
      const { page } = shown
      const card = page.getByRole('region', { name: 'Recent rejections' })
      const row = (text: string) => page.getByRole('row').filter({ hasText: text })
      await card.getByRole('link', { name: 'All requests and rejections' }).waitFor()
      const refused = await RawClient.connect(`${weft.wsUrl}/sync/acme/secret/main?token=nonsense`)
      await refused.closed
      await card.getByText('the token is not a JWT with an algorithm that this server accepts').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await card.getByRole('link', { name: 'All requests and rejections' }).click()
      await row('acme/secret/main').getByText('4401').waitFor()
      // The console asks for a document that does not exist.
      await shown.visit('/documents/none/mine')
      await page.getByText('This document has no content yet.').waitFor()
      await shown.visit('/activity/requests/log')
      await weft.post('/v2/crdt/get', { organizationId: 'none', documentId: 'none' })
      await row('NOT_FOUND').getByText('/v2/crdt/get').waitFor()
      expect(await row('NOT_FOUND').getByRole('cell').last().textContent()).toBe('1')
      await row('/v2/requests/get').getByText('success').waitFor()
      await page.getByLabel('Only rejections').check()
      await row('/v2/requests/get').waitFor({ state: 'detached' })
      await page.getByLabel('Kind', { exact: true }).selectOption('REST calls')
      await row('acme/secret/main').waitFor({ state: 'detached' })
      await row('NOT_FOUND').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400)
      expect(shown.complaints).toEqual([])
      await page.context().close()
    },
  )

  itLong(
    '[CON-69] shows and copies the code that connects an editor, even for a document without content',
    async () => {
      const documents = [{ documentId: 'empty' }]
      await weft.post('/v2/organizations/documents/add', {
        organizationId: 'acme',
        documents,
        createOrganization: true,
      })
      const shown = await openConsole(browser, weft, { route: '/documents/acme/empty', width: 400 })
      const { page } = shown
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByRole('link', { name: 'Connect an editor' }).click()
      const code = (name: string) => page.getByRole('region', { name, exact: true })
      await code('the page').getByText("'acme/empty/main'").waitFor()
      await page.getByLabel('Editor library').selectOption('BlockNote')
      await code('the page').getByText('document-store').waitFor()
      for (const [library, part] of [
        ['ProseMirror', 'ySyncPlugin'],
        ['Quill', 'QuillBinding'],
        ['Lexical (React)', 'CollaborationPlugin'],
        ['Slate (React)', 'YjsEditor.connect'],
      ] as const) {
        await page.getByLabel('Editor library').selectOption(library)
        await code('the page').getByText(part).first().waitFor()
      }
      await page.getByLabel('Backend').selectOption('Python')
      await code('the write request').getByText('urllib.request').waitFor()
      await page.getByRole('button', { name: 'Copy the page' }).click()
      await page.getByText('Copied.').waitFor()
      const copied = await page.evaluate(() => navigator.clipboard.readText())
      expect(copied).toBe(await code('the page').locator('code').textContent())
      expect(await findingsInBothSchemes(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400)
      expect(shown.complaints).toEqual([])
      await page.context().close()
    },
  )

  itLong('[CON-95] lists the users by document, with their places in it and their last changes', async () => {
    const open = async (userId: string, documentId: string): Promise<Editor> =>
      syncedEditor(
        weft.wsUrl,
        `acme/${documentId}/main`,
        await weft.token(userId, { name: userId.toUpperCase() }),
      )
    const ann = await open('ann', 'plan')
    ann.text.insert(0, 'We meet on Monday.')
    const position = Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(ann.text, 8))
    ann.provider.awareness.setLocalStateField('cursor', { anchor: position, head: position })
    const silent = await connect('bob', 'acme/plan/main')
    const shown = await openConsole(browser, weft, { route: '/overview', width: 400 })
    const { page } = shown
    await page.getByRole('link', { name: 'Who is where' }).click()
    const plan = page.getByRole('region', { name: 'plan' }).getByRole('listitem')
    await plan.filter({ hasText: 'ANN at “We meet |on Monday.”' }).waitFor()
    await plan
      .filter({ hasText: 'ANN' })
      .getByText(/^last change .*2\d\d\d/)
      .waitFor()
    await plan.filter({ hasText: 'BOB' }).getByText('no change yet').waitFor()
    const eve = await open('eve', 'budget')
    await page.getByRole('region', { name: 'budget' }).getByText('EVE').waitFor()
    expect(await findingsInBothSchemes(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400)
    expect(shown.complaints).toEqual([])
    silent.end()
    for (const editor of [ann, eve]) editor.close()
    await page.getByText('No user is connected.').waitFor()
    await page.context().close()
  })

  itLong(
    '[CON-96] [CON-53] a page has the values that were selected on the others, until they are removed',
    async () => {
      const editor = { organizationId: 'acme', documentId: 'chosen', editorId: 'main' }
      const content = { ...editor, type: 'text', data: 'one', userId: 'ada' }
      dataOf(await weft.post('/v2/crdt/add', { ...content, contentKey: 'content' }))
      dataOf(await weft.post('/v2/crdt/update', { ...content, contentKey: 'notes', newRoot: true }))
      const bob = await connect('bob', 'acme/unchosen/main')
      const shown = await openConsole(browser, weft, { route: '/overview' })
      const { page } = shown
      const menu = page.getByRole('navigation', { name: 'Sections' })
      await page.getByLabel('Charts').selectOption('Last 24 hours')
      await shown.visit('/documents/acme/chosen/main/replace')
      await page.getByLabel('Root').selectOption('notes')
      await page.getByRole('link', { name: 'Versions' }).click()
      await page.getByLabel('Root').waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Replace content' }).click()
      expect(await page.getByLabel('Root').inputValue()).toBe('notes')
      await menu.getByRole('link', { name: 'Connections' }).click()
      await page.getByText('No connected client matches these filters.').waitFor()
      expect(await page.getByLabel('Organization id').inputValue()).toBe('acme')
      expect(await page.getByLabel('Document id').inputValue()).toBe('chosen')
      await page.getByRole('link', { name: 'Token inspector' }).click()
      expect(await page.getByLabel('Document id').inputValue()).toBe('chosen')
      await menu.getByRole('link', { name: 'Activity' }).click()
      await page.getByText('ada edited main').waitFor()
      await page.getByLabel('User id').fill('ada')
      await page.getByRole('button', { name: 'Filter' }).click()
      await menu.getByRole('link', { name: 'Documents' }).click()
      await page.getByRole('heading', { name: 'chosen' }).waitFor()
      await menu.getByRole('link', { name: 'Connections' }).click()
      expect(await page.getByLabel('User id').inputValue()).toBe('ada')
      await page.getByRole('button', { name: 'Show all' }).click()
      await page.getByRole('row').filter({ hasText: 'BOB' }).waitFor()
      await menu.getByRole('link', { name: 'Overview' }).click()
      expect(await page.getByLabel('Charts').inputValue()).toBe('day')
      expect(shown.complaints).toEqual([])
      bob.end()
      await page.context().close()
    },
  )

  itLong(
    '[CON-70] decodes a token in the browser, and shows what the server accepts or why it rejects it',
    async () => {
      const shown = await openConsole(browser, weft, { route: '/connections', width: 400 })
      const { page } = shown
      const sent: string[] = []
      page.on('request', (request) => sent.push(request.postData() ?? ''))
      await page.getByRole('link', { name: 'Token inspector' }).click()
      const token = await weft.token('ada', { name: 'Ada', isAdmin: true })
      const content = page.getByRole('region', { name: 'Content of the token' })
      await page.getByLabel('Token', { exact: true }).fill('no token')
      await page.getByText('This is not a JWT').waitFor()
      await page.getByLabel('Token', { exact: true }).fill(token)
      await content.getByText('"sub": "ada"').waitFor()
      expect(sent.join()).not.toContain(token)
      await page.getByLabel('Organization id').fill('acme')
      await page.getByLabel('Document id').fill('inspected')
      await page.getByRole('button', { name: 'Check with the server' }).click()
      const result = page.getByRole('region', { name: 'Result of the server' })
      await result.getByText('ada, Ada, ada@example.com').waitFor()
      await result.getByText('editor', { exact: true }).waitFor()
      expect(await findingsInBothSchemes(page)).toEqual([])
      await weft.post('/v2/auth/revoke_tokens', { userId: 'ada' })
      await page.getByRole('button', { name: 'Check with the server' }).click()
      await page.getByText('The server rejects this token: the token has been revoked').waitFor()
      await page.getByRole('link', { name: 'Connected clients' }).click()
      await page.getByRole('link', { name: 'Token inspector' }).click()
      expect(await page.getByLabel('Token', { exact: true }).inputValue()).toBe('')
      const kept = await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]))
      expect(kept).not.toContain(token)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400)
      expect(shown.complaints).toEqual([])
      await page.context().close()
    },
  )

  itLong(
    '[CON-71] [CON-72] shows documents, clients, disk and backup, keeps its charts, and is readable on a phone',
    async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'weft-overview-'))
      const stored = await startTestServer({ dataDir, engine: 'level' })
      const token = await stored.token('ada', { name: 'Ada' })
      const ada = await RawClient.connect(`${stored.wsUrl}/sync/acme/plan/main?token=${token}`)
      await ada.roundTrip()
      const shown = await openConsole(browser, stored, { route: '/overview', width: 400 })
      const { page } = shown
      const card = page.getByRole('region', { name: 'Server' })
      await card.getByText('1 open').waitFor()
      await card.getByText('1 connected').waitFor()
      await card
        .getByText(/^[\d.,]+ K?B stored by the workspace; [\d.,]+ [GT]B of [\d.,]+ [GT]B free on the disk$/)
        .waitFor()
      await card.getByText('none yet').waitFor()
      const menu = await page.getByRole('banner').boundingBox()
      expect(menu?.height).toBeLessThan(120)
      await page.getByRole('link', { name: 'Connections', exact: true }).click()
      const row = page.getByRole('row').filter({ hasText: 'Ada' })
      await row.waitFor()
      const cells = await row.getByRole('cell').all()
      const boxes = await Promise.all(cells.map((cell) => cell.boundingBox()))
      expect(boxes.length).toBeGreaterThan(4)
      expect(new Set(boxes.map((box) => box?.x)).size).toBe(1)
      expect(new Set(boxes.map((box) => box?.y)).size).toBe(boxes.length)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400)
      expect(await seriousFindings(page)).toEqual([])
      expect(shown.complaints).toEqual([])
      // The points of the first visit are still there.
      await page.route('**/metrics', (route) => route.abort())
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByRole('img', { name: /^Connections of the last five minutes\. Now 1\./ }).waitFor()
      await page.context().close()
      ada.end()
      await stored.stop()
      await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
    },
  )
})
