// @y/websocket-server with y-leveldb behind it, bound as y-websocket's own server did it.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { setPersistence, setupWSConnection } from '@y/websocket-server/utils'
import { LeveldbPersistence } from 'y-leveldb'
import * as stored from 'yjs'

// The server has a Yjs of its own, later than that of y-leveldb: only bytes go between the two.
const served = await import(
  new URL('../node_modules/yjs/src/index.js', import.meta.resolve('@y/websocket-server/utils'))
)
// The ws that it brings is a CommonJS module, of which ES modules see no names.
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
