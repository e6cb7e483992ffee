import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { builtFile } from '../../src/core/base/package-file.ts'
import { missing } from '../support/needs.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { startTestServer } from '../support/servers/server.ts'

const root = join(import.meta.dirname, '../..')

/** Maximum size of the client with gzip, in bytes. */
const bytesMax = 8_192

/** Returns exports of the built client as one script for browsers, without any package. */
async function bundle(names = 'createClient, dataOf, verifyWebhook, WebhookRejectedError'): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: {
      contents: `export { ${names} } from ${JSON.stringify(fileURLToPath(builtFile('package/client.js')))}`,
      resolveDir: root,
    },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    globalName: 'weft',
    target: 'es2022',
    minify: true,
    packages: 'external',
  })
  return outputFiles[0]?.text ?? ''
}

describe('the client as a bundle', () => {
  it('[PCLI-20] has at most 8 KiB with gzip, and needs no package and no module of Node', async () => {
    const text = await bundle()
    const size = gzipSync(text, { level: 9 }).length
    console.log(`client: ${text.length} bytes, ${size} bytes with gzip`)
    expect(size).toBeLessThanOrEqual(bytesMax)
    expect(text).not.toMatch(/\brequire\(|\bimport\b|\bprocess\.|\bBuffer\b/)
  })

  it('[END-18] does not contain the endpoint, which needs no package and no module of Node', async () => {
    expect(await bundle()).not.toContain('comments.changed')
    const text = await bundle('createEndpoint')
    const size = gzipSync(text, { level: 9 }).length
    console.log(`endpoint: ${text.length} bytes, ${size} bytes with gzip`)
    expect(text).toContain('comments.changed')
    expect(text).not.toMatch(/\brequire\(|\bimport\b|\bprocess\.|\bBuffer\b/)
  })

  it.skipIf(missing('chromium'))('[PCLI-21] runs in Chromium: calls, pages and webhooks', async () => {
    const server = await startTestServer()
    const browser = await openBrowser()
    try {
      const origin = new URL(server.url)
      await server.post('/v2/workspace/domains/add', { domains: [origin.hostname] })
      const page = await browser.newPage()
      await page.addInitScript({ content: `${await bundle()};globalThis.weft=weft` })
      await page.goto(`${server.url}/docs`)
      const found = await page.evaluate(
        async ({ url, credentials }) => {
          const { createClient, dataOf } = (
            globalThis as unknown as { weft: typeof import('../../src/client/rest/index.ts') }
          ).weft
          const client = createClient({ url, ...credentials })
          const editor = { organizationId: 'browser', documentId: 'plan', editorId: 'main' }
          dataOf(await client.crdt.add({ ...editor, type: 'text', data: 'Hello.' }))
          const ids: string[] = []
          for await (const { id } of client.organizations.get.items({ pageSize: 1 })) ids.push(id)
          const failed = await client.crdt.add({ ...editor, type: 'text', data: 'Hello.' })
          return { ids, code: failed.ok ? null : failed.error.code }
        },
        { url: server.url, credentials: server.credentials },
      )
      expect(found).toEqual({ ids: ['browser'], code: 'crdt/content-exists' })
    } finally {
      await browser.close()
      await server.stop()
    }
  })
})
