// Runs the whole story with a server in this process: authorize, load, store, and a stopped application.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, dataOf } from 'weft-server'
import { DocumentProvider } from 'weft-server/provider'
import { WebSocket } from 'ws'
import { createApp, openDatabase } from './app.js'
import { configure } from './setup.js'

const database = openDatabase()
for (const id of ['plan', 'notes', 'late']) {
  database.run('INSERT INTO documents VALUES (?, ?, NULL)', [id, `# ${id}\n\nFrom SQLite.`])
  database.run("INSERT INTO members VALUES (?, 'ada', 'editor'), (?, 'vic', 'viewer')", [id, id])
}
const weft = await createServer({
  engine: 'memory',
  log: false,
  webhookAllowlist: ['127.0.0.1'],
  defaultAccess: 'restricted',
})
const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
let secret = ''
let app = createApp(database, () => secret).listen(0, '127.0.0.1')
await once(app, 'listening')
const { port } = app.address()
secret = await configure(weft.api, `http://127.0.0.1:${port}/weft`)

function open(userId, documentId) {
  const user = { userId, userProperties: { name: userId, email: `${userId}@example.com` } }
  const getToken = async () => dataOf(await weft.api.auth.generateToken(user)).token
  const provider = new DocumentProvider({ url, organizationId: 'acme', documentId, getToken, WebSocket })
  const content = provider.doc.getXmlFragment('default')
  // The provider ends with its document.
  return { provider, content, close: () => provider.doc.destroy() }
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
  const [ada, vic] = [open('ada', 'plan'), open('vic', 'plan')]
  await eventually(() => [ada, vic].every(({ content }) => content.toString().includes('From SQLite.')))
  assert.equal(ada.content.toString().split('From SQLite.').length, 2)
  console.log('- load: two users opened a document of the application, and Weft asked once for its content')

  const mallory = open('mallory', 'plan')
  await eventually(() => mallory.provider.problem?.code === 'not-found')
  mallory.close()
  console.log('- authorize: a user who is not a member gets no access')

  ada.content.get(1).get(0).insert(0, 'Edited. ')
  await eventually(async () => (await body('plan')).includes('Edited. From SQLite.'))
  console.log('- store: the table of the application has the new content')

  const read = { organizationId: 'acme', documentId: 'notes', editorId: 'main', format: 'markdown' }
  assert.match(dataOf(await weft.api.crdt.get(read))[0].data, /From SQLite/)
  console.log('- load: a call of a backend also moves a document')

  app.close()
  app.closeAllConnections()
  const late = { ...read, documentId: 'late' }
  assert.equal((await weft.api.crdt.get(late)).error?.code, 'callback/load-failed')
  app = createApp(database, () => secret).listen(port, '127.0.0.1')
  await once(app, 'listening')
  await eventually(async () => (await weft.api.crdt.get(late)).ok)
  console.log('- a document that could not be loaded is loaded when the application runs again')
  for (const { close } of [ada, vic]) close()
} finally {
  app.close()
  app.closeAllConnections()
  await weft.close()
  database.close()
}
