import { readFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { hookCalls } from '../support/clients/webhook-receiver.ts'
import { prepareAcme } from '../support/data/console-data.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { type ConsolePage, openConsole, seriousFindings } from '../support/servers/console.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

const organizationId = 'acme'

describe('pages of the console for administrators, in Chromium', () => {
  let weft: TestServer
  let browser: Browser
  let endpointId: string
  beforeAll(async () => {
    weft = await startTestServer({ webhookAllowlist: ['127.0.0.1'] })
    browser = await openBrowser()
    await prepareAcme(weft)
    const hooks = hookCalls(async (path, data) => dataOf(await weft.post(path, data)))
    await hooks.begin()
    // No receiver listens there, so the page also shows a pending delivery.
    endpointId = await hooks.endpoint('http://127.0.0.1:9/')
    await weft.post('/v2/workspace/advancedwebhook/endpoints/test', { endpointId })
    const url = 'http://127.0.0.1:9/'
    const store = { url, format: 'text', minSeconds: 1 }
    await weft.post('/v2/workspace/callbacks/update', { store })
    const editor = { organizationId, documentId: 'budget', editorId: 'followed' }
    dataOf(await weft.post('/v2/crdt/add', { ...editor, type: 'text', data: 'kept' }))
    await weft.post('/v2/workspace/domains/add', { domains: ['127.0.0.1'] })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await weft?.stop()
  })

  async function addWorkspace(shown: ConsolePage): Promise<void> {
    const { workspaceId, workspaceAuthToken } = weft.credentials
    await shown.visit('/keys')
    await shown.page.getByLabel('Workspace id').fill(workspaceId)
    await shown.page.getByLabel('Workspace auth token').fill(workspaceAuthToken)
    await shown.page.getByRole('button', { name: 'Add to this session' }).click()
    await shown.page.getByRole('button', { name: 'Tokens of Default' }).click()
    await shown.page.getByRole('region', { name: 'Tokens of key' }).locator('input').first().waitFor()
  }

  const pages = (): readonly (readonly [string, string])[] => [
    ['/keys', 'Default'],
    ['/folders/acme', 'may edit'],
    ['/folders/acme/f/reports', 'No user has a direct role'],
    ['/folders/acme/d/budget', 'Content and history'],
    ['/users/acme', 'ann@example.com'],
    ['/users/acme/user/ann', 'Budget'],
    ['/users/acme/groups/legal', 'bob'],
    ['/activity/acme', 'The backend made the folder reports'],
    ['/activity/audit/log', '/v2/users/add'],
    ['/webhooks', 'http://127.0.0.1:9/'],
    [`/webhooks/endpoint/${endpointId}`, 'msg_'],
    ['/webhooks/store', 'crdt.update_data'],
    ['/connections', 'No connected client matches'],
    ['/activity/requests/log', '/v2/requests/get'],
  ]

  for (const colorScheme of ['light', 'dark'] as const)
    itLong(
      `[CON-52] has no serious accessibility finding in ${colorScheme} and no page wider than a phone`,
      async () => {
        const shown = await openConsole(browser, weft, { colorScheme, width: 400 })
        await addWorkspace(shown)
        for (const [route, text] of pages()) {
          await shown.visit(route)
          await shown.page.getByText(text).first().waitFor()
          expect(await seriousFindings(shown.page), route).toEqual([])
          const wide = await shown.page.evaluate(() => document.documentElement.scrollWidth)
          expect(wide, route).toBeLessThanOrEqual(400)
        }
        expect(shown.complaints).toEqual([])
        await shown.page.context().close()
      },
      120_000,
    )

  itLong(
    '[CON-44] downloads the data of a user, and erases the user only after the id is typed',
    async () => {
      const shown = await openConsole(browser, weft, { route: '/users/acme/user/bob' })
      const { page } = shown
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download as JSON' }).click(),
      ])
      const kept = JSON.parse(await readFile(await download.path(), 'utf8')) as { items: { kind: string }[] }
      expect(kept.items.map(({ kind }) => kind)).toContain('membership')
      await page.getByRole('button', { name: 'Erase the user' }).click()
      const erase = page.getByRole('dialog').getByRole('button', { name: 'Erase the user' })
      expect(await erase.isDisabled()).toBe(true)
      await page.getByLabel('Type bob to continue').fill('bob')
      await erase.click()
      await page.getByRole('status').filter({ hasText: 'Erased: ' }).waitFor()
      const left = dataOf(await weft.post('/v2/users/get', { organizationId, userIds: ['bob'] }))
      expect(left).toEqual([])
      expect(shown.complaints).toEqual([])
    },
  )

  itLong(
    '[CON-46] [CON-53] shows new activities in the selected organization when the user follows them',
    async () => {
      await weft.post('/v2/organizations/add', { organizations: [{ organizationId: 'other' }] })
      const shown = await openConsole(browser, weft, { route: '/folders' })
      const { page } = shown
      await page.getByLabel('Organization').selectOption('other')
      await page.getByRole('link', { name: 'All of other' }).waitFor()
      await page.getByRole('link', { name: 'Activity' }).click()
      await page.getByText('The backend made the organization').waitFor()
      await page.getByLabel('Refresh every').check()
      await weft.post('/v2/users/add', { organizationId: 'other', users: [{ userId: 'eve' }] })
      await page.getByText('The backend added the user eve').waitFor()
      await page.getByLabel('Actions').fill('organization.add')
      await page.keyboard.press('Enter')
      await page.getByText('The backend added the user eve').waitFor({ state: 'detached' })
      expect(shown.complaints).toEqual([])
    },
  )

  itLong(
    '[CON-47] [CON-51] links to the page for workspace credentials, and keeps the current host allowed when a domain is added',
    async () => {
      await weft.post('/v2/workspace/domains/delete', { domains: ['127.0.0.1'] })
      const shown = await openConsole(browser, weft, { route: '/activity/audit/log' })
      const { page } = shown
      await page.getByText('This page needs the workspace credentials').waitFor()
      await page.getByRole('link', { name: 'Keys and domains' }).first().click()
      await page.getByLabel('Domain', { exact: true }).fill('example.com')
      await page.getByRole('button', { name: 'Add domain' }).click()
      await page.getByRole('status').filter({ hasText: 'Added' }).waitFor()
      await page.getByRole('row').filter({ hasText: '127.0.0.1' }).waitFor()
      await page.reload()
      await page.getByRole('row').filter({ hasText: 'example.com' }).waitFor()
      expect(shown.complaints).toEqual([])
    },
  )
})
