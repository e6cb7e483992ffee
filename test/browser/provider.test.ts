import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DocumentProvider } from '../../src/client/provider/index.ts'
import { eventually } from '../support/clients/clients.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { exampleFolder, installExample } from '../support/servers/examples.ts'
import { type ServerProcess, startProcess } from '../support/servers/process.ts'

const root = join(import.meta.dirname, '../..')

/** Returns the script of a page with a provider that stores the document in the browser. */
async function pageScript(): Promise<string> {
  await installExample('codemirror')
  const { outputFiles } = await build({
    stdin: {
      contents: `import { DocumentProvider } from './src/client/provider/index.ts'
import { IndexeddbPersistence } from 'y-indexeddb'
const url = new URLSearchParams(location.search).get('weft')
const at = { url, organizationId: 'acme', documentId: 'offline', tokenUrl: '/token', retryMaxMs: 300 }
globalThis.provider = new DocumentProvider({ ...at, offline: IndexeddbPersistence })`,
      resolveDir: root,
    },
    bundle: true,
    format: 'esm',
    alias: {
      'y-indexeddb': join(exampleFolder('codemirror'), 'node_modules/y-indexeddb'),
      yjs: join(root, 'node_modules/yjs'),
      lib0: join(root, 'node_modules/lib0'),
    },
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

describe('the provider in Chromium', () => {
  let data: string
  let weft: ServerProcess
  let site: Server
  let browser: Browser

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'weft-provider-'))
    weft = await startProcess(data)
    const script = await pageScript()
    const token = await weft.token()
    site = createServer((request, response) => {
      if (request.url === '/token') response.end(JSON.stringify({ token }))
      else if (request.url === '/main.js')
        response.writeHead(200, { 'content-type': 'text/javascript' }).end(script)
      else
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end('<!doctype html><script type="module" src="/main.js"></script>')
    }).listen(0, '127.0.0.1')
    await once(site, 'listening')
    browser = await openBrowser()
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    site?.close()
    await weft?.end('SIGKILL')
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  })

  async function open(): Promise<Page> {
    const page = await (await browser.newContext()).newPage()
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/?weft=${weft.url}`)
    return page
  }

  const stateOf = (page: Page) =>
    page
      .evaluate(() => {
        const { provider } = globalThis as unknown as { provider: DocumentProvider }
        const { status, saved, problem, isStoredOffline, role, canWrite } = provider
        return {
          text: String(provider.doc.getText('content')),
          status,
          saved,
          isStoredOffline,
          role,
          canWrite,
          problem: problem?.code,
        }
      })
      .catch(() => null)

  async function reaches(page: Page, expected: Partial<NonNullable<Awaited<ReturnType<typeof stateOf>>>>) {
    let found: Awaited<ReturnType<typeof stateOf>> = null
    await eventually(
      async () => {
        found = await stateOf(page)
        return Object.entries(expected).every(([name, value]) => found?.[name as 'text'] === value)
      },
      () => found,
    )
  }

  const type = (page: Page, words: string): Promise<void> =>
    page.evaluate((text) => {
      const { provider } = globalThis as unknown as { provider: DocumentProvider }
      provider.doc.getText('content').insert(0, text)
    }, words)

  it('[PROV-15] keeps edits over SIGKILL of the server and a reload of the page, and merges them once', async () => {
    const [ada, grace] = [await open(), await open()]
    for (const page of [ada, grace]) await reaches(page, { status: 'connected', saved: true })
    await type(ada, 'Together.')
    await reaches(ada, { saved: true, isStoredOffline: true })
    await reaches(grace, { text: 'Together.', saved: true })

    const port = Number(new URL(weft.url).port)
    await weft.end('SIGKILL')
    await type(ada, 'Ada. ')
    await type(grace, 'Grace. ')
    for (const page of [ada, grace]) await reaches(page, { status: 'offline', saved: false })
    await ada.reload()
    const offline = { status: 'offline', saved: false, role: 'editor', canWrite: true } as const
    await reaches(ada, { text: 'Ada. Together.', ...offline })
    await type(ada, 'Again. ')

    weft = await startProcess(data, {}, port)
    for (const page of [ada, grace]) await reaches(page, { status: 'connected', saved: true })
    const address = { organizationId: 'acme', documentId: 'offline', editorId: 'main' }
    const [stored] = (await weft.post('/v2/crdt/get', address)).data as { data: string }[]
    const words = (stored?.data ?? '').split('. ').map((word) => word.replace('.', ''))
    expect(words.toSorted()).toEqual(['Ada', 'Again', 'Grace', 'Together'])
    for (const page of [ada, grace]) await reaches(page, { text: stored?.data ?? '', saved: true })

    // The document is deleted and created again: the kept content must not get into it.
    await weft.post('/v2/crdt/delete', {
      organizationId: 'acme',
      documentId: 'offline',
      editorIds: ['main'],
    })
    await weft.post('/v2/crdt/add', { ...address, type: 'text', data: 'New.' })
    await ada.reload()
    await reaches(ada, { text: stored?.data ?? '', status: 'closed', problem: 'document-replaced' })
    await ada.evaluate(() =>
      (globalThis as unknown as { provider: DocumentProvider }).provider.deleteOfflineCopy(),
    )
    await ada.reload()
    await reaches(ada, { text: 'New.', status: 'connected', saved: true })
  })
})
