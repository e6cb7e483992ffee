import { execFile } from 'node:child_process'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FeedConsumer } from '../support/clients/feed-consumer.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { openConsole, seriousFindings } from '../support/servers/console.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

const path = '/v2/workspace/feed'

describe('the change feed in the console, in Chromium', () => {
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

  const config = async () => dataOf(await weft.post(`${path}/get`, {}))
  /** Writes a text, and returns its version when the feed has the change. */
  const write = async (organizationId: string, documentId: string, data: string): Promise<string> => {
    const change = { organizationId, documentId, editorId: 'main', type: 'text', data, upsert: true }
    const { version } = dataOf(await weft.post('/v2/crdt/update', change)) as { version: string }
    const consumer = new FeedConsumer(weft, { documentIds: [documentId] })
    await consumer.until((event) => event.data.version === version)
    return version
  }

  it('[CON-80] turns the feed on, shows and follows its events, and turns it off', async () => {
    const shown = await openConsole(browser, weft, { route: '/feed' })
    const { page } = shown
    page.setDefaultTimeout(10_000)
    await page.getByText('The change feed is off').waitFor()
    await page.getByLabel('Keep events for').selectOption('1 day')
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('No events match').waitFor()
    expect(await config()).toEqual({ enabled: true, keepSeconds: 86_400 })
    await page.getByLabel('Keep events for').selectOption('30 days')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor()
    expect(await config()).toEqual({ enabled: true, keepSeconds: 2_592_000 })

    const events = page.getByRole('region', { name: 'Events of the feed' }).getByRole('row')
    await page.getByLabel('Follow').check()
    const first = await write('acme', 'plan', 'one')
    const change = events.filter({ hasText: 'crdt.update_data' })
    await change.filter({ hasText: first }).waitFor()
    const second = await write('acme', 'plan', 'one two')
    await change
      .filter({ hasText: `after ${first}` })
      .filter({ hasText: second })
      .waitFor()
    // The newest event is the first one, below the titles.
    expect(await events.nth(1).textContent()).toContain(second)
    await change.first().locator('summary').click()
    await change.first().getByText('"versionBefore"').waitFor()

    await write('other', 'board', 'x')
    await page.getByLabel('Organization id').fill('other')
    await page.getByLabel('Event type').selectOption('document.create')
    await page.getByRole('button', { name: 'Show events' }).click()
    await events.filter({ hasText: 'board' }).waitFor()
    expect(await events.count()).toBe(2)
    const kept = page.getByRole('region', { name: 'Kept events' })
    const [oldest] = (await new FeedConsumer(weft).read({ pageSize: 1 })).events
    await kept.getByText(oldest?.cursor as string).waitFor()

    await page.getByLabel('Organization id').fill('')
    await page.getByLabel('Event type').selectOption('')
    await page.getByLabel('Start with').selectOption('cursor')
    await page.getByLabel('Events after the cursor').fill('nonsense')
    await page.getByRole('button', { name: 'Show events' }).click()
    await page.getByRole('alert').filter({ hasText: 'does not know this cursor' }).waitFor()
    await page.getByLabel('Events after the cursor').fill(oldest?.cursor as string)
    await page.getByRole('button', { name: 'Show events' }).click()
    await events.first().waitFor()
    const all = new FeedConsumer(weft)
    await all.toEnd()
    expect(await events.count()).toBe(all.events.length)
    expect(await page.getByRole('alert').count()).toBe(0)

    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click()
    await page.getByText('The change feed is off').waitFor()
    expect(await config()).toMatchObject({ enabled: false })
    expect(shown.complaints).toEqual([])
    await page.context().close()
  })

  itLong('[CON-81] [CON-52] shows requests for a program, which run as they are', async () => {
    dataOf(await weft.post(`${path}/update`, { enabled: true }))
    await write("o'hara & co", 'plan', 'one')
    const shown = await openConsole(browser, weft, { route: '/feed', width: 400 })
    const { page } = shown
    await page.getByLabel('Organization id').fill("o'hara & co")
    await page.getByRole('button', { name: 'Show events' }).click()
    const code = (name: string) => page.getByRole('region', { name, exact: true }).locator('code')
    await code('the request for the stream').filter({ hasText: 'hara' }).waitFor()
    const version = await write("o'hara & co", 'plan', 'one two')
    await write('other', 'plan', 'x')
    const { apiKey, authToken } = weft.credentials
    const run = async (name: string, seconds: number): Promise<string> => {
      const text = (await code(name).textContent()) as string
      expect(text).not.toContain(authToken)
      // The port of the test server is free to choose, so its configured address has none.
      expect(text).toContain('http://localhost:0/')
      const env = { ...process.env, KEY: apiKey, TOKEN: authToken }
      // The stream ends by the time limit, which is an error of the process.
      return new Promise((resolve) => {
        execFile(
          'timeout',
          [`${seconds}`, 'bash', '-c', text.replace('http://localhost:0', weft.url)],
          { env },
          (_error, stdout) => resolve(stdout),
        )
      })
    }
    const { result } = JSON.parse(await run('the request for the next events', 30)) as {
      result: { data: { events: { documentId: string; data: { version: string } }[] } }
    }
    expect(result.data.events).toMatchObject([{ documentId: 'plan', data: { version } }])
    const streamed = await run('the request for the stream', 2)
    expect(streamed).toContain(`"version":"${version}"`)
    expect(streamed).not.toContain('"organizationId":"other"')
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await seriousFindings(page)).toEqual([])
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400)
    expect(shown.complaints).toEqual([])
    await page.context().close()
  })
})
