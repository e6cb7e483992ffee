// @y/websocket-server with y-leveldb, connected as in the server of y-websocket.
import { createServer } from 'node:http'
import { createRequire, registerHooks } from 'node:module'

// Both would load a Yjs of their own. y-leveldb gets that of the server, so that there is one.
const parentURL = import.meta.resolve('@y/websocket-server/utils')
registerHooks({
  resolve: (name, context, next) => next(name, name === 'yjs' ? { ...context, parentURL } : context),
})
const { setPersistence, setupWSConnection } = await import('@y/websocket-server/utils')
const { LeveldbPersistence } = await import('y-leveldb')
const { applyUpdate, encodeStateAsUpdate } = await import('yjs')
// Its ws is a CommonJS module, whose names ES modules cannot import.
const { Server: WebSocketServer } = createRequire(import.meta.url)('ws')

const [port, directory] = process.argv.slice(2)
const provider = new LeveldbPersistence(directory)
async function bind(name, doc) {
  const stored = await provider.getYDoc(name)
  await provider.storeUpdate(name, encodeStateAsUpdate(doc))
  applyUpdate(doc, encodeStateAsUpdate(stored))
  doc.on('update', (update) => provider.storeUpdate(name, update))
}
const bindState = (name, doc) => void bind(name, doc).catch(console.error)
setPersistence({ provider, bindState, writeState: async () => {} })
const server = createServer((_request, response) => response.end('ok'))
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', setupWSConnection)
server.listen(Number(port), '127.0.0.1')
