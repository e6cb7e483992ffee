import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type Editor, eventually, syncedEditor } from '../support/clients/clients.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { findingsInBothSchemes, openConsole, seriousFindings } from '../support/servers/console.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

describe('documents in the console', () => {
  let weft: TestServer
  let browser: Browser
  beforeAll(async () => {
    weft = await startTestServer({ defaultAccess: 'restricted' })
    const resources = [{ type: 'organization', id: 'acme', accessRole: 'editor' }]
    const granted = { user: { userId: 'ann' }, permissions: { resources }, createMissing: true }
    dataOf(await weft.post('/v2/auth/permissions/add', granted))
    browser = await openBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await weft?.stop()
  })

  const add = async (documentId: string, data: unknown = 'Hello world', type = 'text') => {
    const editor = { organizationId: 'acme', documentId, editorId: 'main' }
    dataOf(await weft.post('/v2/crdt/add', { ...editor, type, data }))
    return editor
  }
  /** Opens an editor as Ann. */
  const ann = async (documentId: string): Promise<Editor> =>
    syncedEditor(weft.wsUrl, `acme/${documentId}/main`, await weft.token('ann', { name: 'Ann' }))

  it('[CON-20] [CON-52] lists and searches documents in pages, and has no accessibility finding', async () => {
    const documents = Array.from({ length: 60 }, (_, index) => ({ documentId: `doc-${100 + index}` }))
    await weft.post('/v2/organizations/documents/add', {
      organizationId: 'many',
      documents,
      createOrganization: true,
    })
    const { page, complaints } = await openConsole(browser, weft, { route: '/documents' })
    const asked = page.waitForRequest((request) => request.postData()?.includes('"search":"man"') === true)
    await page.getByLabel('Search organizations').fill('man')
    await asked
    await page.getByRole('link', { name: 'many' }).click()
    await page.getByRole('link', { name: 'doc-149' }).waitFor()
    expect(await page.getByRole('link', { name: 'doc-150' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('link', { name: 'doc-159' }).waitFor()
    // The page shows all results of the server, also after empty pages.
    await page.route('**/v2/organizations/documents/get', async (route) => {
      const { search, pageToken } = (route.request().postDataJSON() as { data: Record<string, string> }).data
      if (search !== '58') return route.continue()
      const found =
        pageToken === undefined ? [] : [{ id: 'doc-158', lastUpdated: 0, documentName: '', metadata: {} }]
      await route.fulfill({
        json: { result: { data: found, ...(pageToken === undefined && { pageToken: 'on' }) } },
      })
    })
    await page.getByLabel('Search documents').fill('58')
    // Both were visible before.
    await page.getByRole('link', { name: 'doc-149' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'doc-158' }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    expect(await findingsInBothSchemes(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  itLong('[CON-29] creates, opens and deletes a document', async () => {
    const { page, complaints } = await openConsole(browser, weft, { route: '/documents/new' })
    await page.getByRole('button', { name: 'New document' }).click()
    await page.getByLabel('Document id').fill('first')
    await page.getByLabel('Name', { exact: true }).fill('The first one')
    await page.getByRole('button', { name: 'Make the document' }).click()
    await page.getByRole('heading', { name: 'The first one' }).waitFor()
    await page.getByRole('region', { name: 'Document' }).waitFor()
    await page.getByRole('link', { name: 'new', exact: true }).click()
    await page.getByRole('button', { name: 'Delete first' }).click()
    await page.getByRole('button', { name: 'Delete the document' }).click()
    await page.getByRole('link', { name: 'first' }).waitFor({ state: 'detached' })
    const left = await weft.post('/v2/organizations/documents/get', { organizationId: 'new' })
    expect(dataOf(left)).toEqual([])
    expect(complaints).toEqual([])
  })

  itLong('[CON-99] marks a document as a template, and creates a document from it', async () => {
    const form = { organizationId: 'forms', documentId: 'form' }
    const content = { ...form, editorId: 'main', type: 'text', data: 'Dear …' }
    dataOf(await weft.post('/v2/crdt/add', content))
    const named = { documents: [{ documentId: 'form', metadata: { team: 'sales' } }] }
    dataOf(
      await weft.post('/v2/organizations/documents/update', { ...form, ...named, documentId: undefined }),
    )
    const { page, complaints } = await openConsole(browser, weft, { route: '/documents/forms' })
    const metadata = async () => {
      const found = dataOf(await weft.post('/v2/organizations/documents/get', { organizationId: 'forms' }))
      return (found as { id: string; metadata: object }[]).find(({ id }) => id === 'form')?.metadata
    }
    await page.getByRole('button', { name: 'Use as template: form' }).click()
    await page.getByRole('button', { name: 'New from template' }).click()
    expect(await metadata()).toEqual({ team: 'sales', template: true })
    await page.getByLabel('Document id').fill('letter')
    await page.getByRole('button', { name: 'Make the document' }).click()
    await page.getByRole('heading', { name: 'letter' }).waitFor()
    await page.getByText('Dear …').first().waitFor()
    await page.getByRole('link', { name: 'forms', exact: true }).click()
    await page.getByRole('button', { name: 'Not a template: form' }).click()
    await page.getByRole('button', { name: 'New from template' }).waitFor({ state: 'detached' })
    expect(await metadata()).toEqual({ team: 'sales' })
    expect(complaints).toEqual([])
  })

  it('[FMT-159] [CON-21] shows the name of the schema of an editor, and its content as indented XML', async () => {
    const schema = { nodes: { doc: { content: 'verse*' }, verse: { content: 'text*' }, text: {} } }
    dataOf(await weft.post('/v2/crdt/schemas/set', { name: 'poem', schema }))
    const address = { organizationId: 'acme', documentId: 'poem', editorId: 'main' }
    const content = { type: 'xml', data: '<verse>a</verse>', schema: 'poem' }
    dataOf(await weft.post('/v2/crdt/add', { ...address, ...content }))
    const { page, complaints } = await openConsole(browser, weft, {
      route: '/documents/acme/poem/main/structure',
    })
    const schemaName = page.locator('dt', { hasText: 'Schema' }).locator('xpath=following-sibling::dd')
    await schemaName.getByText('poem', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Root content' }).filter({ hasText: '<verse>' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('[CON-21] [CON-22] [CON-52] [DEF-6] the console shows edits and cursors immediately, and does not appear in presence', async () => {
    await add('seen')
    const client = await ann('seen')
    const { page, complaints } = await openConsole(browser, weft, {
      route: '/documents/acme/seen/main',
    })
    const content = page.getByRole('region', { name: 'Document' })
    await content.getByText('Hello world').waitFor()
    const { text, doc, provider } = client
    text.insert(5, ', dear')
    await eventually(async () => (await content.textContent()) === 'Hello, dear world')
    text.format(0, 5, { bold: true })
    await content.locator('.bold', { hasText: 'Hello' }).waitFor()
    doc.getMap('more').set('deep', { down: { below: [1, 2, 3] } })
    await content.getByText('{"down":{"below":[1,2,3]}}').waitFor()
    const position = Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(text, 5))
    provider.awareness.setLocalState({
      user: { name: 'Ann', color: '#c02020' },
      cursor: { anchor: position, head: position },
    })
    const here = page.getByRole('list', { name: 'Here now' })
    await here.getByText('at “Hello|, dear world”').waitFor()
    await content.getByText('cursor of Ann').waitFor()
    text.insert(0, 'Oh. ')
    await here.getByText('at “Oh. Hello|, dear world”').waitFor()
    expect(provider.awareness.getStates().size).toBe(1)
    expect(await findingsInBothSchemes(page)).toEqual([])
    provider.awareness.setLocalState(null)
    await here.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    client.close()
  })

  itLong('[CON-21] shows a part of a long list, and more on request', async () => {
    const numbers = Array.from({ length: 3_500 }, (_, index) => index)
    await add('long', numbers, 'array')
    const { page, complaints } = await openConsole(browser, weft, { route: '/documents/acme/long/main' })
    const content = page.getByRole('region', { name: 'Document' })
    await content.getByText('2999', { exact: true }).waitFor()
    expect(await content.getByText('3000', { exact: true }).count()).toBe(0)
    await content.getByRole('button', { name: 'Show more' }).click()
    await content.getByText('3499', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })

  itLong(
    '[CON-27] keeps the typed text when the server does not answer, and opens a deleted document again',
    async () => {
      const editor = await add('shaky')
      const { page } = await openConsole(browser, weft, { route: '/documents/acme/shaky/main/replace' })
      const box = page.getByLabel('Content (text)')
      await box.fill('my words')
      const failed = page.waitForResponse((response) => response.status() === 503)
      await page.route('**/v2/crdt/update', (route) => route.fulfill({ status: 503, body: 'no server' }))
      await weft.post('/v2/crdt/update', { ...editor, type: 'text', data: 'Hello there' })
      await page.getByRole('button', { name: 'See what would change' }).click()
      await failed
      expect(await box.inputValue()).toBe('my words')
      await page.unroute('**/v2/crdt/update')
      const documentIds = [editor.documentId]
      await weft.post('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds })
      await page.getByText('Disconnected: the document was deleted').waitFor()
      await add('shaky', 'Anew')
      await page.getByRole('button', { name: 'Open again' }).click()
      await eventually(async () => (await box.inputValue()) === 'Anew')
    },
    20_000,
  )

  it('[CON-23] [CON-24] replaces content after a preview, and keeps concurrent edits', async () => {
    const editor = await add('edited', 'one two three')
    const client = await ann('edited')
    const { page, complaints } = await openConsole(browser, weft, {
      route: '/documents/acme/edited/main/replace',
    })
    const box = page.getByLabel('Content (text)')
    await box.fill('one 2 three')
    expect(await page.getByRole('button', { name: 'Replace', exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'See what would change' }).click()
    await page.getByText('This would be changed: 1 unit inserted, 3 units deleted').waitFor()
    expect(await page.locator('del').textContent()).toBe('−two')
    expect(await page.locator('ins').textContent()).toBe('+2')
    expect(client.text.toJSON()).toBe('one two three')
    expect(await seriousFindings(page)).toEqual([])
    client.text.insert(0, 'Zero, ')
    const isStored = async () => {
      const [content] = dataOf(await weft.post('/v2/crdt/get', editor)) as { data: string }[]
      return content?.data === 'Zero, one two three'
    }
    await eventually(isStored)
    await page.getByRole('button', { name: 'Replace', exact: true }).click()
    await page.getByText('Replaced: 1 unit inserted').waitFor()
    await eventually(() => client.text.toJSON() === 'Zero, one 2 three')
    await eventually(async () => (await box.inputValue()) === 'Zero, one 2 three')
    expect(complaints).toEqual([])
    client.close()
  })

  itLong('[CON-27] shows the content of an existing root when the page is opened by a link', async () => {
    const editor = { organizationId: 'acme', documentId: 'other-root', editorId: 'main' }
    await weft.post('/v2/crdt/add', { ...editor, contentKey: 'default', type: 'xml', data: '<p>Hi</p>' })
    const { page } = await openConsole(browser, weft, { route: '/documents/acme/other-root/main/replace' })
    expect(await page.getByLabel('Content (XML)').inputValue()).toBe('<p>Hi</p>')
    await page.getByRole('button', { name: 'See what would change' }).click()
    await page.getByText('This would change nothing').waitFor()
    // An empty root keeps its type.
    await weft.post('/v2/crdt/update', { ...editor, contentKey: 'default', type: 'xml', data: '' })
    await page.getByRole('button', { name: 'Read again' }).click()
    const box = page.getByLabel('Content (XML)')
    await eventually(async () => (await box.inputValue()) === '')
    await box.fill('<p>New</p>')
    await page.getByRole('button', { name: 'See what would change' }).click()
    await page.getByRole('button', { name: 'Replace', exact: true }).click()
    await page.getByText('Replaced: ').waitFor()
    expect(await page.getByLabel('Content (XML)').inputValue()).toBe('<p>New</p>')
  })

  itLong(
    '[CON-23] when the input is not valid content, shows an error at the field, and changes nothing',
    async () => {
      await add('data', { a: 1 }, 'map')
      const { page } = await openConsole(browser, weft, { route: '/documents/acme/data/main/replace' })
      await page.getByLabel('Content (JSON)').fill('{')
      await page.getByRole('button', { name: 'See what would change' }).click()
      await page.getByRole('alert').filter({ hasText: 'This is not JSON' }).waitFor()
      await page.getByLabel('Content (JSON)').fill('[]')
      await page.getByRole('button', { name: 'See what would change' }).click()
      await page.getByRole('alert').filter({ hasNotText: 'This is not JSON' }).waitFor()
      await page.getByLabel('Content (JSON)').fill('{"a": 2}')
      await page.getByRole('button', { name: 'See what would change' }).click()
      await page.locator('ins', { hasText: '2' }).waitFor()
    },
  )

  itLong(
    '[CON-25] [CON-77] saves, compares and restores a version, and does not overwrite changes that the user has not seen',
    async () => {
      await add('kept', 'first words')
      const client = await ann('kept')
      const { page, complaints } = await openConsole(browser, weft, {
        route: '/documents/acme/kept/main/versions',
      })
      await page.getByLabel('Label of a new version').fill('Draft')
      await page.getByRole('button', { name: 'Save a version' }).click()
      await page.getByRole('cell', { name: 'Draft', exact: true }).waitFor()
      client.text.insert(0, 'The ')
      client.text.delete(4, 6)
      await page.getByRole('button', { name: 'Compare Draft' }).click()
      await page.locator('section[aria-label=Comparison]:focus').waitFor()
      await eventually(async () => {
        await page.getByRole('button', { name: 'Compare again' }).click()
        return (await page.locator('ins').allTextContents()).join() === '+The '
      })
      expect(await page.locator('del').allTextContents()).toEqual(['−first '])
      expect(await seriousFindings(page)).toEqual([])

      await page.getByRole('button', { name: 'Restore… Draft' }).click()
      await page.getByText('This would be changed').waitFor()
      expect(client.text.toJSON()).toBe('The words')
      // Another user is faster.
      client.text.insert(9, '!')
      await eventually(async () => (await weftText('kept')) === 'The words!')
      await page.getByRole('button', { name: 'Restore', exact: true }).click()
      await page.getByText('the document has newer edits').waitFor()
      expect(client.text.toJSON()).toBe('The words!')
      await page.getByRole('button', { name: 'Look again' }).click()
      await page.getByRole('button', { name: 'Restore', exact: true }).click()
      await page.getByText('To undo this, restore the automatic version').waitFor()
      await eventually(() => client.text.toJSON() === 'first words')
      await page.getByRole('button', { name: 'Delete Draft' }).click()
      await page.getByRole('button', { name: 'Delete the version' }).click()
      await page.getByRole('cell', { name: 'Draft', exact: true }).waitFor({ state: 'detached' })
      expect(complaints).toEqual([])
      client.close()
    },
  )

  const weftText = async (documentId: string): Promise<unknown> => {
    const editor = { organizationId: 'acme', documentId, editorId: 'main' }
    const [content] = dataOf(await weft.post('/v2/crdt/get', editor)) as { data: unknown }[]
    return content?.data
  }
})
