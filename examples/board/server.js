// The backend of the example: serves the page, and requests a realtime token for each visitor, which opens
// one board only. (The changes of another backend are in ci.js.)
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { call, weftUrl } from './weft.js'

const port = Number(process.env.EXAMPLE_PORT ?? 8086)

async function token(name, board) {
  const { token } = await call('/v2/auth/generate_token', {
    userId: randomUUID(),
    userProperties: { name, email: 'guest@example.com' },
    permissions: {
      resources: [{ type: 'document', id: board, organizationId: 'example', accessRole: 'editor' }],
    },
  })
  const room = ['example', board, 'main'].map(encodeURIComponent).join('/')
  return { token, room, syncUrl: `${weftUrl.replace(/^http/, 'ws')}/sync` }
}

const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/main.js': ['main.js', 'text/javascript; charset=utf-8'],
  '/board.css': ['board.css', 'text/css; charset=utf-8'],
}

async function answer(request, response) {
  const url = new URL(request.url, 'http://localhost')
  if (url.pathname === '/token') {
    const given = (name, usual) => (url.searchParams.get(name) || usual).slice(0, 100)
    const body = JSON.stringify(await token(given('name', 'Guest'), given('board', 'board')))
    return response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  }
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
  const page = await fetch(address)
  const script = await fetch(`${address}/main.js`)
  server.close()
  if (!page.ok || !script.ok) process.exitCode = 1
  console.log(`page ${page.status}, script ${script.status}, ${(await script.text()).length} characters`)
}

server.listen(checking ? 0 : port, '127.0.0.1', () => {
  const address = `http://localhost:${server.address().port}`
  if (checking) void check(address)
  else console.log(`Open ${address}/?name=Ada in one window and ${address}/?name=Grace in another.`)
})
