// Relay that shows the upper bound for any server. It passes each message on to all other clients of the
// room, which is the path of the URL. It reads and stores nothing.
import { createServer } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'

const rooms = new Map<string, Set<WebSocket>>()
const server = createServer((_request, response) => response.end('ok'))
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket, request) => {
  const room = rooms.get(request.url ?? '') ?? new Set()
  rooms.set(request.url ?? '', room.add(socket))
  socket.on('message', (data, isBinary) => {
    for (const other of room) if (other !== socket) other.send(data, { binary: isBinary })
  })
  socket.on('close', () => room.delete(socket))
})
server.listen(Number(process.argv[2]), '127.0.0.1')
