// @y/websocket-server with y-leveldb, connected as in the server of y-websocket.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { setPersistence, setupWSConnection } from '@y/websocket-server/utils'
import { LeveldbPersistence } from 'y-leveldb'
import * as stored from 'yjs'

// The server has its own Yjs, newer than that of y-leveldb: they exchange bytes only.
const served = await import(
  new URL('../node_modules/yjs/src/index.js', import.meta.resolve('@y/websocket-server/utils'))
)
// Its ws is a CommonJS module, whose names ES modules cannot import.
const { Server: WebSocketServer } = createRequire(import.meta.url)('ws')
const [port, directory] = process.argv.slice(2)
const level = new LeveldbPersistence(directory)
async function bind(name, doc) {
  const found = await level.getYDoc(name)
  await level.storeUpdate(name, served.encodeStateAsUpdate(doc))
  served.applyUpdate(doc, stored.encodeStateAsUpdate(found))
  doc.on('update', (update) => level.storeUpdate(name, update))
}
setPersistence({
  provider: level,
  bindState: (name, doc) => {
    bind(name, doc).catch(console.error)
  },
  writeState: async () => {},
})
const server = createServer((_request, response) => response.end('ok'))
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket, request) =>
  setupWSConnection(socket, request),
)
server.listen(Number(port), '127.0.0.1')
