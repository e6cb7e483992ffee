import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { hookCalls } from '../support/clients/webhook-receiver.ts'
import { prepareAcme } from '../support/data/console-data.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { openConsole } from '../support/servers/console.ts'
import {
  decodePicture,
  differencesOf,
  encodePicture,
  type Picture,
  pictureOf,
} from '../support/servers/picture.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

/** Places that may differ, because fonts differ between machines. The text of a short status covers more. */
const differencesMax = 3

/** Route of each page, and a text that it shows when it is complete. */
const pages = {
  overview: ['/overview', 'Commit latency'],
  documents: ['/documents/acme', 'budget'],
  document: ['/documents/acme/notes/main', 'We meet on Monday.'],
  connections: ['/connections', 'No client'],
  connect: ['/connect/acme/notes/main', 'Open editors show it at once'],
  folders: ['/folders/acme', 'may edit'],
  users: ['/users/acme', 'ann@example.com'],
  activity: ['/activity/acme', 'The backend made the organization'],
  webhooks: ['/webhooks', 'http://127.0.0.1:9/'],
  keys: ['/keys', 'Add to this session'],
} as const

const folder = join(import.meta.dirname, 'pictures')
const isApproval = process.env.WEFT_APPROVE_PICTURES === '1'

describe('pictures of the console, in Chromium', () => {
  let weft: TestServer
  let browser: Browser
  beforeAll(async () => {
    weft = await startTestServer({ webhookAllowlist: ['127.0.0.1'] })
    browser = await openBrowser()
    await prepareAcme(weft)
    const editor = { organizationId: 'acme', documentId: 'notes', editorId: 'main', userId: 'ann' }
    dataOf(await weft.post('/v2/crdt/add', { ...editor, type: 'text', data: 'We meet on Monday.' }))
    const hooks = hookCalls(async (path, data) => dataOf(await weft.post(path, data)))
    await hooks.begin()
    await hooks.endpoint('http://127.0.0.1:9/')
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await weft?.stop()
  })

  /** Takes a picture when the page no longer changes. */
  async function settledPicture(page: Page): Promise<{ readonly png: Buffer; readonly picture: Picture }> {
    for (let before = await pictureOf(page); ; ) {
      const after = await pictureOf(page)
      if (after.png.equals(before.png)) return after
      before = after
    }
  }

  for (const [name, [route, text]] of Object.entries(pages))
    itLong(
      `[CON-97] the page ${name} looks as approved, light and dark, at 1440 and 400 pixels`,
      async () => {
        const file = join(folder, `${name}.json`)
        const approved: Record<string, string> = isApproval ? {} : JSON.parse(readFileSync(file, 'utf8'))
        const taken: Record<string, string> = {}
        for (const width of [1440, 400])
          for (const colorScheme of ['light', 'dark'] as const) {
            const variant = `${colorScheme} ${width}`
            const { page } = await openConsole(browser, weft, { route, width, colorScheme })
            await page.getByText(text).first().waitFor()
            const { png, picture } = await settledPicture(page)
            await page.context().close()
            taken[variant] = encodePicture(picture)
            if (isApproval) continue
            const differences = differencesOf(decodePicture(approved[variant] ?? '0 '), picture)
            if (differences.length <= differencesMax) continue
            const shown = join(
              mkdtempSync(join(tmpdir(), 'weft-picture-')),
              `${name}-${colorScheme}-${width}.png`,
            )
            writeFileSync(shown, png)
            expect
              .soft(differences, `${variant}: ${shown} differs; npm run pictures:approve approves it`)
              .toEqual([])
          }
        if (!isApproval) return
        mkdirSync(folder, { recursive: true })
        writeFileSync(file, `${JSON.stringify(taken, null, 2)}\n`)
      },
    )
})
