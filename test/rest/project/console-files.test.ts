import { type IncomingMessage, request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { staticPages } from '../../../src/rest/pages/page-list.ts'
import { acceptsGzip } from '../../../src/rest/pages/static-file.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** Returns the body as received, which `fetch` would decompress. */
const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> =>
  new Promise((resolve, reject) => {
    const call = request(server.url + path, { headers, method }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      )
    })
    call.on('error', reject).end()
  })

const gzip = { 'accept-encoding': 'br, gzip;q=0.8' }

it('[CON-12] sends console files compressed, with the same content, to clients that accept gzip', async () => {
  for (const path of [
    '/console',
    '/console/',
    '/console/playground',
    '/console/main.js',
    '/console/style.css',
  ]) {
    const [plain, packed] = [await get(path), await get(path, gzip)]
    expect(gunzipSync(packed.body)).toEqual(plain.body)
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(packed.headers['content-encoding']).toBe('gzip')
    for (const { status, headers, body } of [plain, packed]) {
      expect(status).toBe(200)
      expect(headers['content-length']).toBe(String(body.length))
      expect(headers.vary).toBe('accept-encoding')
      expect(headers['cache-control']).toBe('no-cache')
      expect(headers['content-security-policy']).toContain("script-src 'self'")
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
    const head = await get(path, gzip, 'HEAD')
    expect([head.headers['content-length'], head.body.length]).toEqual([String(packed.body.length), 0])
  }
})

it('[CON-12] treats gzip as accepted if it is listed by name or by wildcard, but not with the weight 0', () => {
  for (const accepted of ['gzip', 'GZIP', 'br, gzip', 'gzip; q=0.1', '*', 'identity;q=0, *;q=1'])
    expect(acceptsGzip(accepted), accepted).toBe(true)
  for (const accepted of [undefined, '', 'br', 'gzip;q=0', 'gzip; q=0.000', '*, gzip;q=0', 'xgzip', '*;q=0'])
    expect(acceptsGzip(accepted), accepted).toBe(false)
})

it('[CON-13] answers 304 for an unchanged file, and allows clients to cache a file with a hash in its name', async () => {
  const { headers, body } = await get('/console/main.js', gzip)
  const etag = String(headers.etag)
  for (const condition of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const unchanged = await get('/console/main.js', { ...gzip, 'if-none-match': condition })
    expect([unchanged.status, unchanged.body.length]).toEqual([304, 0])
    // A browser stores the headers of this response.
    for (const name of ['content-security-policy', 'cache-control', 'etag', 'vary'])
      expect(unchanged.headers[name], name).toBe(headers[name])
  }
  for (const condition of ['"other"', etag.replace('-gzip', '')]) {
    const changed = await get('/console/main.js', { ...gzip, 'if-none-match': condition })
    expect([changed.status, changed.body.length]).toEqual([200, body.length])
  }
  const script = gunzipSync(body).toString()
  const [, chunk] = /"\.\/(chunk-[A-Z0-9]{8}\.js)"/.exec(script) ?? []
  const hashed = await get(`/console/${chunk}`)
  expect(hashed.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect((await get('/console/main.js.map')).status).toBe(404)
})

const all = staticPages()

it.each(['/openapi.json', '/docs/reference/organizations', '/docs/reference/workspace', '/docs/search.json'])(
  '[LIM-6] sends the same bytes of %s to all readers',
  async (path) => {
    const page = all.find((each) => each.path === path)
    const textOf = async () => {
      const headers = { 'accept-encoding': 'gzip' }
      const content = await page?.content({ headers } as IncomingMessage)
      return content?.kind === 'text' && content.headers?.['content-encoding'] === 'gzip'
        ? content.text
        : null
    }
    const first = await textOf()
    expect(Buffer.isBuffer(first) && first.length > 10_000).toBe(true)
    expect(await textOf()).toBe(first)
  },
)
