// The backend of the example: serves the page, requests a realtime token for each visitor, and makes the
// calls that need the API key: comments (comments.js), suggestions (suggestions.js) and the bot (bot.js). The
// calls of Weft are in weft.js.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { runBot } from './bot.js'
import { addThread, reply, resolve, threads } from './comments.js'
import {
  acceptSuggestion,
  rejectSuggestion,
  startSuggesting,
  suggestionChanged,
  suggestions,
} from './suggestions.js'
import { addressOf, call, syncUrl } from './weft.js'

const port = Number(process.env.EXAMPLE_PORT ?? 8081)
const bodyBytesMax = 65_536

async function token(parameters) {
  const name = (parameters.get('name') ?? 'Guest').slice(0, 100)
  // Guests choose their own user id; your backend knows the id of its user, here and below.
  const userId = (parameters.get('user') ?? randomUUID()).slice(0, 100)
  const userProperties = { name, email: 'guest@example.com' }
  const { organizationId, documentId: id } = addressOf(parameters.get('room')).document
  // Valid for the document of the page only. A suggester reads the document and writes its own branch.
  const role = parameters.has('suggesting') ? 'suggester' : 'editor'
  const permissions = { resources: [{ type: 'document', id, organizationId, accessRole: role }] }
  const { token } = await call('/v2/auth/generate_token', { userId, userProperties, permissions })
  return { token, syncUrl }
}

const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/main.js': ['main.js', 'text/javascript; charset=utf-8'],
}

/** The calls of the page. Each one gets the JSON of the body, and returns the JSON of the response. */
const calls = {
  '/threads': threads,
  '/threads/add': addThread,
  '/threads/reply': reply,
  '/threads/resolve': resolve,
  '/suggesting': startSuggesting,
  '/suggestions': suggestions,
  '/suggestions/accept': acceptSuggestion,
  '/suggestions/reject': rejectSuggestion,
  '/suggestions/changed': suggestionChanged,
  '/bot': runBot,
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
      .end(JSON.stringify(value ?? null))
  if (url.pathname === '/token') return json(await token(url.searchParams))
  const asked = request.method === 'POST' ? calls[url.pathname] : undefined
  if (asked !== undefined) return json(await asked(await bodyOf(request)))
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
