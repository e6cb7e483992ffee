// The backend of the example: serves the page, and makes the calls that need the API key. createEndpoint handles
// tokens, comments and suggestions; the bot is in bot.js.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { nodeHandler, readClientOptions } from 'weft-server'
import { createClient, createEndpoint } from 'weft-server/client'
import { runBot } from './bot.js'

const port = Number(process.env.EXAMPLE_PORT ?? 8081)
const bodyBytesMax = 65_536
const options = await readClientOptions({ dataDir: '../../data' })
const weft = createClient(options)

/** Guests choose their own name and user id; your backend knows its user from the session. */
function visitorOf(url) {
  const given = new URL(url, 'http://localhost').searchParams
  return {
    userId: given.get('user')?.slice(0, 100) || 'guest',
    name: given.get('name')?.slice(0, 100) || 'Guest',
    // A suggester reads the document and writes an own branch.
    role: given.has('suggesting') ? 'suggester' : 'editor',
  }
}

const endpoint = nodeHandler(createEndpoint({ api: weft, authorize: ({ url }) => visitorOf(url) }))

const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/main.js': ['main.js', 'text/javascript; charset=utf-8'],
}

/** The other calls of the page. Each one gets the JSON of the body and the user, and returns JSON. */
const calls = { '/bot': runBot }

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
      .end(JSON.stringify(value ?? null))
  if (pathname.startsWith('/weft/')) return endpoint(request, response)
  if (pathname === '/settings') return json({ url: options.url })
  const asked = request.method === 'POST' ? calls[pathname] : undefined
  if (asked !== undefined) return json(await asked(weft, await bodyOf(request), visitorOf(request.url)))
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
