import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { RawClient } from '../support/clients/clients.ts'
import { browserMissing, openBrowser, skipNotice } from '../support/servers/browser.ts'
import { openConsole, seriousFindings } from '../support/servers/console.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

skipNotice()

describe.skipIf(browserMissing)('the console for operators, in Chromium', () => {
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

  itLong('[CON-67] follows the connected clients, filters them, and disconnects one', async () => {
    const ada = await connect('ada', 'acme/plan/main')
    const shown = await openConsole(browser, weft, { route: '/connections', width: 400 })
    const { page } = shown
    const row = (text: string) => page.getByRole('row').filter({ hasText: text })
    await row('ADA').getByRole('link', { name: 'plan' }).waitFor()
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
})
