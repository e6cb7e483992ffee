// The backend of the example: serves the page, requests a realtime token for each visitor, and writes the
// report (report.js) into the document. The calls of Weft are in weft.js.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { withReport } from './report.js'
import { call, editorOf, syncUrl } from './weft.js'

const port = Number(process.env.EXAMPLE_PORT ?? 8082)
const bodyBytesMax = 4096

async function token(parameters) {
  const name = (parameters.get('name') ?? 'Guest').slice(0, 100)
  // Guests choose their own user id; your backend knows the id of its user.
  const userId = (parameters.get('user') ?? randomUUID()).slice(0, 100)
  const userProperties = { name, email: 'guest@example.com' }
  await begin(parameters.get('room'))
  const { organizationId, documentId: id } = editorOf(parameters.get('room'))
  // Valid for the document of the page only.
  const permissions = { resources: [{ type: 'document', id, organizationId, accessRole: 'editor' }] }
  const { token } = await call('/v2/auth/generate_token', { userId, userProperties, permissions })
  return { token, syncUrl }
}

/**
 * A document of Quill ends with a line break. An empty Y.Text has none, and editors with and without it would
 * differ by an empty line. So the backend writes one before the first user joins.
 */
async function begin(room) {
  const data = [{ insert: '\n' }]
  await call('/v2/crdt/add', { ...editorOf(room), type: 'delta', data }).catch((error) => {
    if (error.status !== 'ALREADY_EXISTS') throw error
  })
}

/** Edits between the read and the write stay: `baseVersion` names the version that was read. */
async function report({ room }) {
  const editor = editorOf(room)
  const [{ data, version }] = await call('/v2/crdt/get', { ...editor, format: 'delta' })
  const { insertions, deletions } = await call('/v2/crdt/update', {
    ...editor,
    type: 'delta',
    data: withReport(data),
    baseVersion: version,
    userId: 'reporter',
  })
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
  const url = new URL(request.url, 'http://localhost')
  const json = (value) =>
    response
      .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      .end(JSON.stringify(value))
  if (url.pathname === '/token') return json(await token(url.searchParams))
  if (url.pathname === '/report' && request.method === 'POST')
    return json(await report(await bodyOf(request)))
  const file = files[url.pathname]
  if (file === undefined) return response.writeHead(404).end('not found')
  const body = await readFile(new URL(`public/${file[0]}`, import.meta.url))
  return response.writeHead(200, { 'content-type': file[1] }).end(body)
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error)
    response.writeHead(502, { 'content-type': 'text/plain' }).end(`request to Weft failed: ${error.message}`)
  })
})

const checking = process.argv.includes('--check')

async function check(address) {
  const answers = await Promise.all(Object.keys(files).map((path) => fetch(address + path)))
  const sizes = await Promise.all(answers.map(async (each) => (await each.text()).length))
  server.close()
  if (answers.some(({ ok }) => !ok)) process.exitCode = 1
  console.log(
    Object.keys(files)
      .map((path, index) => `${path} ${answers[index].status} ${sizes[index]}`)
      .join(', '),
  )
}

server.listen(checking ? 0 : port, '127.0.0.1', () => {
  const address = `http://localhost:${server.address().port}`
  if (checking) void check(address)
  else console.log(`Open ${address}/?name=Ada in one window and ${address}/?name=Grace in another.`)
})
