// Runs the backend with a Weft server in this process: the page loads and gets a token.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'weft-server'

const weft = await createServer({ engine: 'memory', log: false })
const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
const { apiKey, authToken } = weft.credentials
Object.assign(process.env, {
  WEFT_URL: url,
  WEFT_API_KEY: apiKey,
  WEFT_AUTH_TOKEN: authToken,
  EXAMPLE_PORT: '0',
})
const { server } = await import('./server.js')
if (!server.listening) await once(server, 'listening')
const address = `http://127.0.0.1:${server.address().port}`

for (const path of ['/', '/main.js', '/style.css', '/settings']) {
  const response = await fetch(address + path)
  assert.equal(response.status, 200)
  console.log(`${path}: ${(await response.text()).length} characters`)
}
const headers = { 'content-type': 'application/json' }
const body = JSON.stringify({ organizationId: 'example', documentId: 'welcome', editorId: 'main' })
const response = await fetch(`${address}/weft/token?name=Ada&user=ada`, { method: 'POST', headers, body })
assert.match((await response.json()).token, /^eyJ/)
console.log('/weft/token: a token for the document')
server.close()
await weft.close()
