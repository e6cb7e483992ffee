import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { answering } from '../support/clients/webhook-receiver.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { callbackTests, json } from '../support/servers/callback-servers.ts'
import { openConsole } from '../support/servers/console.ts'
import { dataOf, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

const path = '/v2/workspace/callbacks'

describe('callbacks in the console, in Chromium', () => {
  const { backend, start } = callbackTests()
  let browser: Browser
  let page: Page
  let complaints: readonly string[] = []
  beforeAll(async () => {
    browser = await openBrowser()
  }, 60_000)
  afterEach(async () => {
    expect(complaints).toEqual([])
    await page.context().close()
  })
  afterAll(async () => browser?.close())

  async function open(server: TestServer, route: string): Promise<void> {
    const shown = await openConsole(browser, server, { route })
    ;({ page, complaints } = shown)
    page.setDefaultTimeout(10_000)
  }
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const said = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()
  const tab = (name: string) =>
    page.getByRole('navigation', { name: 'Callbacks' }).getByRole('link', { name }).click()

  it('[CON-82] configures each callback, hides and rotates the secret, and turns callbacks off', async () => {
    const { server } = await start()
    const get = async () => dataOf(await server.post(`${path}/get`, {})) as Record<string, unknown>
    const secret = async () =>
      (dataOf(await server.post(`${path}/secret/get`, {})) as { secret: string }).secret
    await open(server, '/callbacks')
    await page.getByLabel('The callback authorize is on').check()
    await page.getByLabel('URL').fill('https://user:secret@example.com/')
    await press('Save')
    await page.getByRole('alert').filter({ hasText: 'authorize/url' }).waitFor()
    await page.getByLabel('URL').fill('https://example.com/weft')
    await page.getByLabel('Timeout (ms)').fill('700')
    await page.getByLabel('If a call fails').selectOption('stored')
    await press('Save')
    await said('Saved.')
    await tab('load')
    await page.getByLabel('The callback load is on').check()
    await page.getByLabel('URL').fill('https://example.com/load')
    await press('Save')
    await said('Saved.')
    await tab('store')
    await page.getByLabel('The callback store is on').check()
    await page.getByLabel('URL').fill('https://example.com/store')
    await page.getByLabel('Format of the content').selectOption('markdown')
    await page.getByLabel('Root').fill('default')
    await page.getByLabel('Minimum time').fill('3')
    await press('Save')
    await said('Saved.')
    expect(await get()).toMatchObject({
      authorize: { url: 'https://example.com/weft', timeoutMs: 700, onFailure: 'stored' },
      load: { url: 'https://example.com/load', timeoutMs: 5_000, onFailure: 'reject' },
      store: { url: 'https://example.com/store', format: 'markdown', contentKey: 'default', minSeconds: 3 },
    })

    await press('Show secret')
    const field = page.getByRole('region', { name: 'Signing secret' }).locator('input')
    expect(await field.getAttribute('type')).toBe('password')
    const before = await field.inputValue()
    expect(before).toBe(await secret())
    await press('Rotate secret')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await field.inputValue()).toBe(await secret())
    expect(await field.inputValue()).not.toBe(before)

    await tab('load')
    await page.getByLabel('The callback load is on').uncheck()
    await press('Save')
    await said('does not call load any more')
    expect(await get()).toMatchObject({ load: null, store: { format: 'markdown' } })
    await tab('authorize')
    expect(await page.getByLabel('Timeout (ms)').inputValue()).toBe('700')
    await press('Remove all callbacks')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove all callbacks' }).click()
    await page.getByRole('region', { name: 'Signing secret' }).waitFor({ state: 'detached' })
    await expect.poll(() => page.getByLabel('The callback authorize is on').isChecked()).toBe(false)
    expect((await server.post(`${path}/get`, {})).status).toBe(404)
  })

  itLong(
    '[CON-83] calls a callback as a test, explains a failure, and shows the calls and the circuit breaker',
    async () => {
      const { server, configure } = await start()
      const receiver = await backend(json({ role: 'viewer', ttlSeconds: 30 }))
      await configure({ authorize: { url: receiver.url, timeoutMs: 3_000 } })
      await open(server, '/callbacks')
      await page.getByLabel('Organization id').fill('acme')
      await page.getByLabel('Document id').fill('plan')
      await page.getByLabel('User id').fill('eve')
      await press('Call authorize')
      await said('role viewer, for 30 seconds')
      expect(receiver.bodies.at(-1)).toMatchObject({ documentId: 'plan', user: { userId: 'eve' } })
      receiver.behavior = answering(500)
      const alert = page.getByRole('alert')
      for (let count = 0; count < 5; count += 1) {
        await press('Call authorize')
        await alert.filter({ hasText: 'answered 500' }).waitFor()
      }
      await alert.filter({ hasText: 'closed with 1013' }).waitFor()
      await press('Call authorize')
      await alert.filter({ hasText: 'The circuit breaker is open' }).waitFor()
      const calls = page.getByRole('region', { name: 'Calls of authorize', exact: true })
      await calls.getByText('open', { exact: true }).waitFor()
      await calls.getByRole('row').filter({ hasText: 'answered' }).filter({ hasText: '1' }).waitFor()
      await calls.getByRole('row').filter({ hasText: 'status' }).filter({ hasText: '5' }).waitFor()
    },
  )

  itLong(
    '[CON-84] shows the deliveries of store with the reason of a failure, and sends one again',
    async () => {
      const { server, call, configure } = await start()
      const receiver = await backend(answering(503))
      await configure({ store: { url: receiver.url, format: 'text', minSeconds: 1 } })
      for (const documentId of ['plan', 'board', 'notes'])
        await call('/v2/crdt/add', {
          organizationId: 'acme',
          documentId,
          editorId: 'main',
          type: 'text',
          data: documentId,
        })
      await open(server, '/callbacks/store')
      const rows = page.getByRole('region', { name: 'Deliveries', exact: true }).getByRole('row')
      await expect
        .poll(
          async () => {
            await press('Read again')
            return rows.filter({ hasText: 'HTTP 503' }).count()
          },
          { timeout: 20_000 },
        )
        .toBe(3)
      const { length } = receiver.hooks
      receiver.behavior = answering(200)
      await rows.nth(1).getByRole('button', { name: 'Resend' }).click()
      await said('sends the newest content again')
      await expect.poll(() => receiver.hooks.length, { timeout: 10_000 }).toBeGreaterThan(length)
      await page.getByLabel('Status').selectOption('Succeeded')
      await rows.filter({ hasText: 'HTTP 200' }).first().waitFor()
    },
  )
})
