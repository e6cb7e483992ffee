// Relay that shows the upper bound for a server that writes to each receiver once per tick. It passes
// messages on without reading or storing them.
import { createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'

interface Receiver {
  readonly socket: WebSocket
  readonly connection: Duplex
  corked: boolean
}

const rooms = new Map<string, Set<Receiver>>()
const server = createServer((_request, response) => response.end('ok'))

function send(receiver: Receiver, data: Buffer): void {
  if (!receiver.corked) {
    receiver.corked = true
    receiver.connection.cork()
    setImmediate(() => {
      receiver.corked = false
      receiver.connection.uncork()
    })
  }
  receiver.socket.send(data, { binary: true })
}

new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket, request) => {
  const room = rooms.get(request.url ?? '') ?? new Set()
  const receiver: Receiver = { socket, connection: request.socket, corked: false }
  rooms.set(request.url ?? '', room.add(receiver))
  socket.on('message', (data: Buffer) => {
    for (const other of room) if (other !== receiver) send(other, data)
  })
  socket.on('close', () => room.delete(receiver))
})
server.listen(Number(process.argv[2]), '127.0.0.1')
