// The backend of the example: serves the page, and starts the writer. The page has neither the API key nor the token of
// the writer.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { nodeHandler, readClientOptions } from 'weft-server'
import { createClient, createEndpoint } from 'weft-server/client'
import { Writers } from './writers.js'

const port = Number(process.env.EXAMPLE_PORT ?? 8087)
const bodyBytesMax = 16_384
const options = await readClientOptions({ dataDir: '../../data' })
const weft = createClient(options)
const writers = new Writers(options)

/** Guests choose their own name and user id; your backend knows its user from the session. */
function visitorOf(url) {
  const given = new URL(url, 'http://localhost').searchParams
  const userId = given.get('user')?.slice(0, 100) || 'guest'
  return { userId, name: given.get('name')?.slice(0, 100) || 'Guest', role: 'editor' }
}

const endpoint = nodeHandler(
  createEndpoint({
    api: weft,
    authorize: ({ url }, { organizationId }) => (organizationId === 'example' ? visitorOf(url) : null),
  }),
)

const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/main.js': ['main.js', 'text/javascript; charset=utf-8'],
}

/** The calls of the page about the writer. */
const calls = {
  '/write': (data, user) => writers.write(data, user),
  '/stop': (data, user) => writers.stop(data, user),
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
  const json = (value, status = 200) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      .end(JSON.stringify(value))
  if (pathname === '/weft/token') return endpoint(request, response)
  if (pathname === '/settings') return json({ url: options.url })
  const call = request.method === 'POST' ? calls[pathname] : undefined
  if (call !== undefined)
    return call(await bodyOf(request), visitorOf(request.url)).then(json, ({ message }) =>
      json({ error: message }, 422),
    )
  const file = files[pathname]
  if (file === undefined) return response.writeHead(404).end('not found')
  const body = await readFile(new URL(`public/${file[0]}`, import.meta.url))
  return response.writeHead(200, { 'content-type': file[1] }).end(body)
}

export const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error)
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"the request failed"}')
  })
})

server.listen(port, '127.0.0.1', () => {
  const address = `http://localhost:${server.address().port}`
  console.log(`Open ${address}/?name=Ada in one window and ${address}/?name=Grace in another.`)
})
