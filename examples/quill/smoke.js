// Runs the backend with a Weft server in this process: the page loads and gets a token, and the report is written.
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

for (const path of ['/', '/main.js', '/main.css', '/style.css', '/settings']) {
  const response = await fetch(address + path)
  assert.equal(response.status, 200)
  console.log(`${path}: ${(await response.text()).length} characters`)
}
const body = JSON.stringify({ organizationId: 'example', documentId: 'report', editorId: 'main' })
async function post(path) {
  const headers = { 'content-type': 'application/json' }
  return (await fetch(address + path, { method: 'POST', headers, body })).json()
}
assert.match((await post('/weft/token?name=Ada&user=ada')).token, /^eyJ/)
assert.equal((await post('/report')).deletions, 0)
assert.deepEqual(await post('/report'), { insertions: 0, deletions: 0 })
console.log('a token for the document, and a report that is written once')
server.close()
await weft.close()
