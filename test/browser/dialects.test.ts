import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/clients/clients.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { type Site, startExample } from '../support/servers/examples.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { isEverythingAsked } from '../support/time/full-run.ts'

const address = { organizationId: 'example', documentId: 'welcome', editorId: 'main' }

describe.skipIf(!isEverythingAsked)(
  'Tiptap over HocuspocusProvider and CodeMirror over y-websocket in Chromium',
  () => {
    let weft: TestServer
    let sites: { readonly tiptap: Site; readonly codemirror: Site }
    let browser: Browser

    beforeAll(async () => {
      weft = await startTestServer({ engine: 'level' })
      sites = {
        tiptap: await startExample('tiptap', weft),
        codemirror: await startExample('codemirror', weft),
      }
      browser = await openBrowser()
    }, 240_000)

    afterAll(async () => {
      await browser?.close()
      for (const site of Object.values(sites ?? {})) site.child.kill()
      await weft?.stop()
    })

    async function open(site: Site, name: string): Promise<Page> {
      const page = await (await browser.newContext()).newPage()
      await page.goto(`${site.url}/?name=${name}`)
      await page.waitForFunction(() =>
        /synced|saved/.test(document.querySelector('#status')?.textContent ?? ''),
      )
      return page
    }

    const has = (page: Page, selector: string, text: string): Promise<void> =>
      eventually(async () => (await page.textContent(selector))?.includes(text) === true)

    it('[DIA-20] shows the users of both editors to each other, and merges their edits with the edits of a backend', async () => {
      const [ada, grace] = [await open(sites.tiptap, 'Ada'), await open(sites.tiptap, 'Grace')]
      const linus = await open(sites.codemirror, 'Linus')
      await ada.click('.tiptap')
      await ada.keyboard.type('Written in Tiptap.')
      await has(grace, '.tiptap', 'Written in Tiptap.')
      await linus.click('.cm-content')
      await linus.keyboard.type('Written in CodeMirror.')
      for (const page of [ada, grace, linus])
        for (const name of ['Ada', 'Grace', 'Linus']) await has(page, '#people', name)
      for (const page of [ada, linus]) await has(page, '#status', 'saved')
      const stored = async (contentKey: string): Promise<string> =>
        JSON.stringify(dataOf(await weft.post('/v2/crdt/get', { ...address, contentKey })))
      await eventually(async () => (await stored('default')).includes('Written in Tiptap.'))
      await eventually(async () => (await stored('content')).includes('Written in CodeMirror.'))
      const xml = '<paragraph>Replaced by a <bold>backend</bold>.</paragraph>'
      const update = { ...address, type: 'xml', contentKey: 'default', data: xml }
      const answer = await weft.post('/v2/crdt/update', update)
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      for (const page of [ada, grace]) await has(page, '.tiptap', 'Replaced by a backend.')
      await has(linus, '.cm-content', 'Written in CodeMirror.')
    }, 120_000)
  },
)
