import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { hookCalls } from '../support/clients/webhook-receiver.ts'
import { prepareAcme } from '../support/data/console-data.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { type ConsolePage, openConsole } from '../support/servers/console.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

const organizationId = 'acme'

describe('what administrators change in the console, in Chromium', () => {
  let weft: TestServer
  let browser: Browser
  let shown: ConsolePage
  let page: Page
  beforeAll(async () => {
    weft = await startTestServer({ webhookAllowlist: ['127.0.0.1'] })
    browser = await openBrowser()
    await prepareAcme(weft)
    shown = await openConsole(browser, weft)
    page = shown.page
    page.setDefaultTimeout(10_000)
  }, 60_000)
  afterEach(() => expect(shown.complaints).toEqual([]))
  afterAll(async () => {
    await browser?.close()
    await weft?.stop()
  })

  const visit = (route: string) => shown.visit(route)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const confirm = (name: string) =>
    page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  const said = (text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor()
  const read = async (path: string, data: object) => dataOf(await weft.post(path, data))

  itLong('[CON-40] [CON-42] renames, moves, restricts and deletes a folder with its content', async () => {
    const folder = async () => {
      const all = await read('/v2/organizations/folders/get', { organizationId })
      return (all as { folderId: string }[]).find(({ folderId }) => folderId === 'y2026')
    }
    await visit('/folders/acme/f/y2026')
    const own = page.getByRole('region', { name: 'This folder' })
    await own.getByRole('textbox', { name: 'Name' }).fill('Year 2026')
    await press('Rename')
    await said('Renamed')
    await own.getByRole('combobox', { name: 'Folder it is in' }).selectOption('root')
    await press('Move')
    await said('Moved')
    await own.getByLabel('Effective access type').selectOption('restricted')
    await own.getByLabel('Inherit permissions from parent folders').uncheck()
    await press('Change access')
    await said('Access changed')
    expect(await folder()).toMatchObject({
      folderName: 'Year 2026',
      parentFolderId: 'root',
      accessType: 'restricted',
      inheritAccessFromParent: false,
    })
    await press('Delete folder')
    await page.getByText('This deletes all its subfolders').waitFor()
    await confirm('Delete folder')
    await page.getByRole('heading', { name: 'Documents in no folder' }).waitFor()
    expect(await folder()).toBeUndefined()
    expect(
      await read('/v2/organizations/documents/get', { organizationId, documentIds: ['budget'] }),
    ).toEqual([])
  })

  itLong('[CON-98] lists what was deleted, restores it, and purges it', async () => {
    const documents = { organizationId, documents: [{ documentId: 'spare', documentName: 'Spare' }] }
    await read('/v2/organizations/documents/add', documents)
    const remove = { organizationId, documentIds: ['spare'] }
    await read('/v2/organizations/documents/delete', remove)
    await visit('/deleted')
    await page.getByText('spare (Spare)').waitFor()
    await press('Restore spare')
    await confirm('Restore')
    await page.getByText('spare (Spare)').waitFor({ state: 'detached' })
    expect(await read('/v2/organizations/documents/get', remove)).toMatchObject([{ id: 'spare' }])
    await read('/v2/organizations/documents/delete', remove)
    await visit('/keys')
    await visit('/deleted')
    await press('Purge spare')
    await confirm('Purge')
    await page.getByText('spare (Spare)').waitFor({ state: 'detached' })
    expect(JSON.stringify(await read('/v2/workspace/deleted/get', {}))).not.toContain('spare')
  })

  itLong(
    '[CON-41] [CON-42] shows each failed item, moves a document, and grants a role to a group',
    async () => {
      await visit('/folders/acme')
      await page.getByLabel('Folder id').fill('reports')
      await press('Make folder')
      await page.getByRole('alert').filter({ hasText: 'reports: ' }).waitFor()
      await page.getByRole('link', { name: 'notes' }).click()
      await page.getByRole('combobox', { name: 'Folder it is in' }).selectOption('reports')
      await press('Move')
      await said('Moved')
      await page.getByLabel('Effective access type').selectOption('restricted')
      await press('Change access')
      await said('Access changed')
      const bob = page
        .getByRole('region', { name: 'Effective permissions' })
        .getByRole('row')
        .filter({ hasText: 'bob' })
      await page.getByLabel('Grant to').selectOption('group')
      await page.getByLabel('Group id').fill('legal')
      await page.getByLabel('Role', { exact: true }).selectOption('viewer')
      await page.getByLabel('Until').fill('2099-01-01T00:00')
      await press('Grant')
      await bob.getByText('may read').waitFor()
      await bob.getByText('2099').waitFor()
      await press('Take back')
      await bob.getByText('may read').waitFor({ state: 'detached' })
    },
  )

  itLong('[CON-43] creates, changes and removes users and groups', async () => {
    const users = async () => read('/v2/users/get', { organizationId, userIds: ['eve'] })
    await visit('/users/acme')
    await page.getByLabel('New user id').fill('eve')
    await page.getByLabel('Name').fill('Eve')
    await page.getByLabel('Role', { exact: true }).selectOption('viewer')
    await press('Add')
    await page.getByRole('link', { name: 'Eve' }).click()
    await page.getByLabel('Name').fill('Eve Smith')
    await page.getByLabel('Role in the organization').selectOption('editor')
    await press('Save')
    await said('Saved')
    expect(await users()).toMatchObject([{ name: 'Eve Smith', accessRole: 'editor' }])
    await page.getByRole('link', { name: 'Groups', exact: true }).click()
    await page.getByLabel('Group id').fill('board')
    await press('Make group')
    await page.getByRole('link', { name: 'board' }).click()
    await page.getByLabel('User id').fill('eve')
    await press('Add to group')
    await press('Remove eve')
    await said('is not in the group any more')
    await press('Delete group')
    await confirm('Delete group')
    await page.getByRole('link', { name: 'legal' }).waitFor()
    await page.getByRole('link', { name: 'board' }).waitFor({ state: 'detached' })
    await visit('/users/acme/user/eve')
    await press('Remove from organization')
    await confirm('Remove from organization')
    await page.getByRole('link', { name: 'Ann' }).waitFor()
    expect(await users()).toEqual([])
  })

  itLong('[CON-48] changes, disables and deletes an endpoint, and hides and rotates its secret', async () => {
    const hooks = hookCalls(async (path, data) => dataOf(await weft.post(path, data)))
    await hooks.begin()
    const endpointId = await hooks.endpoint('http://127.0.0.1:9/')
    await visit(`/webhooks/endpoint/${endpointId}`)
    await press('Show secret')
    const secret = page.getByRole('region', { name: 'Signing secret' }).locator('input')
    expect(await secret.getAttribute('type')).toBe('password')
    const before = await secret.inputValue()
    await press('Rotate secret')
    await confirm('Rotate secret')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await press('Show Signing secret')
    expect(await secret.getAttribute('type')).toBe('text')
    expect(await secret.inputValue()).not.toBe(before)
    await page.getByLabel('Description').fill('Billing')
    await page.getByText('Receives all events').click()
    await page.getByLabel('comment.add', { exact: true }).check()
    await page
      .getByRole('form', { name: 'Settings of the endpoint' })
      .getByRole('button', { name: 'Save' })
      .click()
    await said('Saved')
    await press('Disable')
    await page.getByRole('button', { name: 'Enable', exact: true }).waitFor()
    expect(await hooks.endpoints()).toMatchObject([
      { description: 'Billing', filterTypes: ['comment.add'], disabled: true },
    ])
    await press('Delete endpoint')
    await confirm('Delete endpoint')
    await page.getByText('No endpoints yet').waitFor()
  })

  itLong('[CON-50] stays signed in when the session replaces its own tokens', async () => {
    const { workspaceId, workspaceAuthToken, authToken } = weft.credentials
    await visit('/keys')
    await page.getByLabel('Workspace id').fill(workspaceId)
    await page.getByLabel('Workspace auth token').fill('wrong')
    await press('Add to this session')
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Workspace auth token').fill(workspaceAuthToken)
    await press('Add to this session')
    await press('Reset workspace token')
    await confirm('Reset workspace token')
    const made = page.getByRole('textbox', { name: 'New workspace auth token' })
    expect(await made.inputValue()).not.toBe(workspaceAuthToken)
    await press('Tokens of Default')
    await press('Reset token')
    await confirm('Reset token')
    await said('The token is replaced; above')
    const old = await weft.post('/v2/organizations/get', {}, { 'x-service-auth-token': authToken })
    expect(old.status).toBe(401)
    await visit('/users/acme')
    await page.getByRole('link', { name: 'Ann' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Ann' }).waitFor()
  })
})
