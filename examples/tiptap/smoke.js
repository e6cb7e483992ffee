// Runs the backend with a Weft server in this process: the page loads, and its calls about tokens, comments and
// suggestions succeed.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'weft-server'
import { createClient, dataOf } from 'weft-server/client'

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
const editor = { organizationId: 'example', documentId: 'welcome', editorId: 'main' }
async function post(path, data = {}) {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ ...editor, ...data })
  return (await fetch(`${address}${path}?user=ada&name=Ada`, { method: 'POST', headers, body })).json()
}
const xml = { type: 'xml', contentKey: 'default', data: '<paragraph>Hello</paragraph>' }
dataOf(await createClient({ url, apiKey, authToken }).crdt.add({ ...editor, ...xml }))
assert.match((await post('/weft/token')).token, /^eyJ/)
await post('/weft/comments/add', { text: 'Why?' })
const { result } = await post('/weft/comments/get', { status: 'open' })
assert.deepEqual(result.data.threads[0].comments[0].from, { userId: 'ada', name: 'Ada' })
assert.equal((await post('/weft/suggestions/start')).result.data.editorId, 'main@ada')
assert.deepEqual((await post('/weft/suggestions/get')).result.data.suggestions, [])
console.log('a token, a comment in the name of its user, and a branch for suggestions')
server.close()
await weft.close()
