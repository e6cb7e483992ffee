import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { RawClient } from '../support/clients/clients.ts'
import { answering, HookReceiver } from '../support/clients/webhook-receiver.ts'
import { prepareAcme } from '../support/data/console-data.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { type ConsolePage, openConsole } from '../support/servers/console.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

const organizationId = 'acme'

describe('administrating in the console, in Chromium', () => {
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
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await weft?.stop()
  })
  beforeEach(() => page.setDefaultTimeout(10_000))

  const visit = (route: string) => shown.visit(route)
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const read = async (path: string, data: object) => dataOf(await weft.post(path, data))

  it('[CON-40] creates a folder and moves a document into it', async () => {
    await visit('/folders/acme')
    await page.getByLabel('Folder id').fill('contracts')
    await button('Make folder').click()
    await page.getByRole('status').filter({ hasText: 'contracts is made' }).waitFor()
    await page.getByLabel('Choose notes').check()
    await page.getByLabel('Move to').selectOption('contracts')
    await button('Move 1 document').click()
    await page.getByRole('status').filter({ hasText: '1 document moved' }).waitFor()
    await page.getByRole('navigation', { name: 'Folders' }).getByRole('link', { name: 'contracts' }).click()
    await page.getByRole('link', { name: 'notes' }).waitFor()
    const documents = await read('/v2/organizations/documents/get', {
      organizationId,
      documentIds: ['notes'],
    })
    expect(documents).toMatchObject([{ folderId: 'contracts' }])
    expect(shown.complaints).toEqual([])
  })

  itLong('[CON-42] grants a role on a folder, shows it, and removes it', async () => {
    const rights = async () => {
      const data = await read('/v2/users/get', { organizationId, folderId: 'reports' })
      return (data as { userId: string; accessRole: string }[]).map(({ userId, accessRole }) => [
        userId,
        accessRole,
      ])
    }
    await visit('/folders/acme/f/reports')
    await page.getByLabel('User id').fill('bob')
    await page.getByLabel('Role', { exact: true }).selectOption('viewer')
    await button('Grant').click()
    await button('Take back from bob').waitFor()
    expect(await rights()).toEqual([['bob', 'viewer']])
    const effective = page.getByRole('region', { name: 'Effective permissions' }).first()
    await effective.getByRole('row').filter({ hasText: 'bob' }).filter({ hasText: 'may read' }).waitFor()
    await button('Take back from bob').click()
    await page.getByText('No user has a direct role').waitFor()
    expect(await rights()).toEqual([])
    expect(shown.complaints).toEqual([])
  })

  it('[CON-43] closes connections with 4401 when the tokens are revoked', async () => {
    await visit('/users/acme/user/ann')
    await button('Make a token').click()
    const token = await page.getByRole('textbox', { name: 'Token' }).inputValue()
    await button('Close').click()
    const client = await RawClient.connect(`${weft.wsUrl}/sync/acme/notes/main?token=${token}`)
    await client.roundTrip()
    await button('Revoke tokens').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The server rejects all tokens').waitFor()
    await dialog.getByRole('button', { name: 'Revoke tokens' }).click()
    expect((await client.closed).code).toBe(4401)
    await page.getByRole('status').filter({ hasText: 'are revoked' }).waitFor()
    expect(shown.complaints).toEqual([])
  })

  it('[CON-48] [CON-49] creates and tests an endpoint, sends a message again, and shows the outcome', async () => {
    const receiver = await HookReceiver.start()
    try {
      await visit('/webhooks')
      await page.getByLabel('Advanced webhooks are on').check()
      await button('Save').click()
      await page.getByLabel('URL').fill(receiver.url)
      await button('Make endpoint').click()
      await button('Send a test').click()
      const said = page.getByRole('status').filter({ hasText: 'Delivered (HTTP 200' })
      await said.waitFor()
      expect(receiver.bodies).toMatchObject([{ data: { test: true } }])
      await page.getByLabel('Status', { exact: true }).selectOption('succeeded')
      const row = page.getByRole('row').filter({ hasText: 'webhook.test' })
      await row.getByText('succeeded').waitFor()
      await row.getByRole('button', { name: /^Resend/ }).click()
      await row.getByText('2 attempts').waitFor()
      await said.waitFor()
      expect(new Set(receiver.ids).size).toBe(1)
      expect(receiver.ids).toHaveLength(2)
      expect(shown.complaints).toEqual([])
    } finally {
      await receiver.stop()
    }
  })

  itLong(
    '[CON-84] shows the deliveries of store with the reason of a failure, and sends one again',
    async () => {
      const receiver = await HookReceiver.start(answering(503))
      try {
        const store = { url: receiver.url, format: 'text', minSeconds: 1 }
        await read('/v2/workspace/callbacks/update', { store })
        for (const documentId of ['plan', 'board', 'roof']) {
          const editor = { organizationId, documentId, editorId: 'main' }
          await read('/v2/crdt/add', { ...editor, type: 'text', data: documentId })
        }
        await visit('/webhooks/store')
        const rows = page.getByRole('region', { name: 'Deliveries', exact: true }).getByRole('row')
        const failures = async () => {
          await button('Read again').click()
          return rows.filter({ hasText: 'HTTP 503' }).count()
        }
        await expect.poll(failures, { timeout: 20_000 }).toBe(3)
        const { length } = receiver.hooks
        receiver.behavior = answering(200)
        await rows.nth(1).getByRole('button', { name: 'Resend' }).click()
        await page.getByRole('status').filter({ hasText: 'sends the newest content again' }).waitFor()
        await expect.poll(() => receiver.hooks.length, { timeout: 10_000 }).toBeGreaterThan(length)
        await page.getByLabel('Status').selectOption('Succeeded')
        await rows.filter({ hasText: 'HTTP 200' }).first().waitFor()
        expect(shown.complaints).toEqual([])
      } finally {
        await read('/v2/workspace/callbacks/delete', {})
        await receiver.stop()
      }
    },
  )

  itLong('[CON-50] creates an API key with workspace credentials, and switches to it', async () => {
    const { workspaceId, workspaceAuthToken } = weft.credentials
    await visit('/keys')
    await page.getByLabel('Workspace id').fill(workspaceId)
    await page.getByLabel('Workspace auth token').fill(workspaceAuthToken)
    await button('Add to this session').click()
    await page.getByLabel('Name of the new key').fill('Staging')
    await button('Make API key').click()
    const token = await page.getByRole('textbox', { name: 'New auth token' }).inputValue()
    const apiKey = await page.getByRole('textbox', { name: 'New API key' }).inputValue()
    await button('Close').click()
    const headers = { 'x-service-api-key': apiKey, 'x-service-auth-token': token }
    expect((await weft.post('/v2/organizations/get', {}, headers)).status).toBe(200)
    await button('Tokens of Staging').click()
    const masked = page.getByRole('region', { name: `Tokens of ${apiKey}` }).locator('input')
    expect(await masked.getAttribute('type')).toBe('password')
    expect(await masked.inputValue()).toBe(token)
    await button('Use this key in the console').click()
    await page.getByRole('row').filter({ hasText: 'Staging' }).getByText('in use here').waitFor()
    await visit('/users')
    await page.getByText('No organizations yet').waitFor()
    expect(shown.complaints).toEqual([])
  })
})
