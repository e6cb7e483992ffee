// Runs the whole story with a server of this repository: authorize, load, store, and a stopped application.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { createApp, openDatabase } from './app.js'
import { configure, weftCalls } from './setup.js'
import { startWeft } from './weft-process.js'

const database = openDatabase()
for (const id of ['plan', 'notes', 'late']) {
  database.run('INSERT INTO documents VALUES (?, ?, NULL)', [id, `# ${id}\n\nFrom SQLite.`])
  database.run("INSERT INTO members VALUES (?, 'ada', 'editor'), (?, 'vic', 'viewer')", [id, id])
}
const weft = await startWeft({ WEFT_WEBHOOK_ALLOWLIST: '127.0.0.1', WEFT_DEFAULT_ACCESS: 'restricted' })
const call = weftCalls(weft)
let secret = ''
let app = createApp(database, () => secret).listen(0, '127.0.0.1')
await once(app, 'listening')
const { port } = app.address()
secret = await configure(call, `http://127.0.0.1:${port}/weft`)

async function open(userId, documentId) {
  const user = { userId, userProperties: { name: userId, email: `${userId}@example.com` } }
  const { token } = await call('/v2/auth/generate_token', user)
  const doc = new Y.Doc()
  const provider = new WebsocketProvider(
    `${weft.url.replace('http', 'ws')}/sync`,
    `acme/${documentId}/main`,
    doc,
    {
      params: { token },
      WebSocketPolyfill: WebSocket,
      disableBc: true,
    },
  )
  const text = () => doc.getXmlFragment('default').toString()
  const closed = new Promise((resolve) => provider.on('connection-close', (event) => resolve(event?.code)))
  const synced = new Promise((resolve) => provider.on('sync', resolve))
  // The timer of the presence ends with the document.
  const close = () => {
    provider.destroy()
    doc.destroy()
  }
  return { doc, text, closed, synced, close }
}

async function eventually(holds) {
  for (let tries = 0; !(await holds()); tries++) {
    assert.ok(tries < 400, `did not happen: ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const body = async (id) => (await fetch(`http://127.0.0.1:${port}/documents/${id}`)).text()

try {
  assert.equal((await fetch(`http://127.0.0.1:${port}/weft`, { method: 'POST', body: '{}' })).status, 401)
  const [ada, vic] = await Promise.all([open('ada', 'plan'), open('vic', 'plan')])
  await eventually(() => [ada, vic].every(({ text }) => text().includes('From SQLite.')))
  assert.equal(ada.text().split('From SQLite.').length, 2)
  console.log('- load: two users opened a document of the application, and Weft asked once for its content')

  const mallory = await open('mallory', 'plan')
  assert.equal(await mallory.closed, 4404)
  mallory.close()
  console.log('- authorize: a user who is no member gets no access')

  const paragraph = ada.doc.getXmlFragment('default').get(1)
  paragraph.get(0).insert(0, 'Edited. ')
  await eventually(async () => (await body('plan')).includes('Edited. From SQLite.'))
  console.log('- store: the table of the application has the new content')

  const read = { organizationId: 'acme', documentId: 'notes', editorId: 'main', format: 'markdown' }
  assert.match((await call('/v2/crdt/get', read))[0].data, /From SQLite/)
  console.log('- load: a call of a backend also moves a document')

  app.close()
  app.closeAllConnections()
  await assert.rejects(call('/v2/crdt/get', { ...read, documentId: 'late' }), /callback load failed/)
  app = createApp(database, () => secret).listen(port, '127.0.0.1')
  await once(app, 'listening')
  await eventually(() => call('/v2/crdt/get', { ...read, documentId: 'late' }).catch(() => null))
  console.log('- a document that could not be loaded is loaded when the application runs again')
  for (const { close } of [ada, vic]) close()
} finally {
  app.close()
  app.closeAllConnections()
  await weft.stop()
  database.close()
}
