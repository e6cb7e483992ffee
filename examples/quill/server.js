// The backend of the example: serves the page, creates a realtime token for each visitor, and writes the report
// (report.js) into the document.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { nodeHandler, readClientOptions } from 'weft-server'
import { createClient, createEndpoint, dataOf } from 'weft-server/client'
import { withReport } from './report.js'

const port = Number(process.env.EXAMPLE_PORT ?? 8082)
const bodyBytesMax = 4096
const options = await readClientOptions({ dataDir: '../../data' })
const weft = createClient(options)

const endpoint = nodeHandler(
  createEndpoint({
    api: weft,
    async authorize(request, editor) {
      await begin(editor)
      // Guests choose their own name and user id; your backend knows its user from the session.
      const given = new URL(request.url).searchParams
      const userId = given.get('user')?.slice(0, 100) || 'guest'
      return { userId, name: given.get('name')?.slice(0, 100) || 'Guest', role: 'editor' }
    },
  }),
)

/**
 * A document of Quill ends with a line break. An empty Y.Text has none, and editors with and without it would
 * differ by an empty line. So the backend writes one before the first user joins.
 */
async function begin(editor) {
  const result = await weft.crdt.add({ ...editor, type: 'delta', data: [{ insert: '\n' }] })
  if (!result.ok && result.error.status !== 'ALREADY_EXISTS') dataOf(result)
}

/** Edits between the read and the write stay: `baseVersion` names the version that was read. */
async function report({ organizationId, documentId, editorId }) {
  const editor = { organizationId, documentId, editorId }
  const [{ data, version }] = dataOf(await weft.crdt.get({ ...editor, format: 'delta' }))
  const change = { type: 'delta', data: withReport(data), baseVersion: version, userId: 'reporter' }
  const { insertions, deletions } = dataOf(await weft.crdt.update({ ...editor, ...change }))
  return { insertions, deletions }
}

const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/main.css': ['main.css', 'text/css; charset=utf-8'],
  '/main.js': ['main.js', 'text/javascript; charset=utf-8'],
}

async function bodyOf(request) {
  // Pages of other sites cannot send this content type without permission.
  if (request.headers['content-type'] !== 'application/json') throw new Error('not JSON')
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) throw new Error('too large')
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks))
}

async function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://localhost')
  const json = (value) =>
    response
      .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      .end(JSON.stringify(value))
  if (pathname === '/weft/token') return endpoint(request, response)
  if (pathname === '/settings') return json({ url: options.url })
  if (pathname === '/report' && request.method === 'POST') return json(await report(await bodyOf(request)))
  const file = files[pathname]
  if (file === undefined) return response.writeHead(404).end('not found')
  const body = await readFile(new URL(`public/${file[0]}`, import.meta.url))
  return response.writeHead(200, { 'content-type': file[1] }).end(body)
}

export const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error)
    response.writeHead(502, { 'content-type': 'text/plain' }).end(`request to Weft failed: ${error.message}`)
  })
})

server.listen(port, '127.0.0.1', () => {
  const address = `http://localhost:${server.address().port}`
  console.log(`Open ${address}/?name=Ada in one window and ${address}/?name=Grace in another.`)
})
