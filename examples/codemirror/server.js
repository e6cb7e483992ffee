// The backend of the example: serves the page, and requests a realtime token for each visitor. Weft's address
// and credentials come from WEFT_URL, WEFT_API_KEY and WEFT_AUTH_TOKEN, or from the credentials file in its
// data directory.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

const weft = process.env.WEFT_URL ?? 'http://localhost:8787'
const port = Number(process.env.EXAMPLE_PORT ?? 8080)

async function credentials() {
  if (process.env.WEFT_API_KEY && process.env.WEFT_AUTH_TOKEN) {
    return { apiKey: process.env.WEFT_API_KEY, authToken: process.env.WEFT_AUTH_TOKEN }
  }
  return JSON.parse(await readFile(new URL('../../data/credentials.json', import.meta.url), 'utf8'))
}

async function token(name, userId, room) {
  const [organizationId, id] = room.split('/').map(decodeURIComponent)
  const { apiKey, authToken } = await credentials()
  const response = await fetch(`${weft}/v2/auth/generate_token`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': apiKey,
      'x-service-auth-token': authToken,
    },
    body: JSON.stringify({
      data: {
        userId,
        userProperties: { name, email: 'guest@example.com' },
        // Valid for the document of the page only.
        permissions: { resources: [{ type: 'document', id, organizationId, accessRole: 'editor' }] },
      },
    }),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.message)
  return {
    token: answer.result.data.token,
    syncUrl: `${weft.replace(/^http/, 'ws')}/sync`,
    socketUrl: `${weft}/client/weft-socket.js`,
  }
}

const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/main.js': ['main.js', 'text/javascript; charset=utf-8'],
}

async function answer(request, response) {
  const url = new URL(request.url, 'http://localhost')
  if (url.pathname === '/token') {
    const name = (url.searchParams.get('name') ?? 'Guest').slice(0, 100)
    // Guests choose their own user id; your backend knows the id of its user.
    const user = (url.searchParams.get('user') ?? randomUUID()).slice(0, 100)
    const body = JSON.stringify(await token(name, user, url.searchParams.get('room') ?? ''))
    return response
      .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      .end(body)
  }
  const file = files[url.pathname]
  if (file === undefined) return response.writeHead(404).end('not found')
  const body = await readFile(new URL(`public/${file[0]}`, import.meta.url))
  return response.writeHead(200, { 'content-type': file[1] }).end(body)
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error.message)
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
