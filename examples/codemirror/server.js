// The backend of the example: serves the page, and creates a realtime token for each visitor.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { nodeHandler, readClientOptions } from 'weft-server'
import { createClient, createEndpoint } from 'weft-server/client'

const port = Number(process.env.EXAMPLE_PORT ?? 8080)
const options = await readClientOptions({ dataDir: '../../data' })

const endpoint = nodeHandler(
  createEndpoint({
    // The page itself tries again, and shows meanwhile that Weft is not reachable.
    api: createClient({ ...options, retries: 0 }),
    authorize(request) {
      // Guests choose their own name and user id; your backend knows its user from the session.
      const given = new URL(request.url).searchParams
      const userId = given.get('user')?.slice(0, 100) || 'guest'
      return { userId, name: given.get('name')?.slice(0, 100) || 'Guest', role: 'editor' }
    },
    onError: ({ message }) => console.error(message),
  }),
)

const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/main.js': ['main.js', 'text/javascript; charset=utf-8'],
}

async function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://localhost')
  if (pathname === '/weft/token') return endpoint(request, response)
  if (pathname === '/settings')
    return response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ url: options.url }))
  const file = files[pathname]
  if (file === undefined) return response.writeHead(404).end('not found')
  const body = await readFile(new URL(`public/${file[0]}`, import.meta.url))
  return response.writeHead(200, { 'content-type': file[1] }).end(body)
}

export const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error.message)
    response.writeHead(500, { 'content-type': 'text/plain' }).end('the backend failed')
  })
})

server.listen(port, '127.0.0.1', () => {
  const address = `http://localhost:${server.address().port}`
  console.log(`Open ${address}/?name=Ada in one window and ${address}/?name=Grace in another.`)
})
