// Relay that shows the upper bound for a durable server. It appends all messages to one file in groups, and
// passes a group on when it is on disk. It does not read the messages, and writes to each receiver once per
// group.
import { constants, openSync, write } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'

interface Receiver {
  readonly socket: WebSocket
  readonly connection: Duplex
}

interface Message {
  readonly data: Buffer
  readonly from: Receiver
  readonly room: ReadonlySet<Receiver>
}

const [port, directory = ''] = process.argv.slice(2)
const { O_CREAT, O_WRONLY, O_APPEND, O_DSYNC } = constants
const file = openSync(join(directory, 'messages'), O_CREAT | O_WRONLY | O_APPEND | O_DSYNC)
const rooms = new Map<string, Set<Receiver>>()
let gathering: Message[] = []
let isBusy = false

function schedule(): void {
  if (isBusy) return
  isBusy = true
  setImmediate(writeAll)
}

function writeAll(): void {
  const group = gathering
  gathering = []
  write(file, Buffer.concat(group.map(({ data }) => data)), (error) => {
    if (error !== null) throw error
    pass(group)
    isBusy = false
    if (gathering.length > 0) schedule()
  })
}

function pass(group: readonly Message[]): void {
  const receivers = new Set<Receiver>()
  for (const { data, from, room } of group) {
    for (const receiver of room) {
      if (receiver === from) continue
      if (!receivers.has(receiver)) receiver.connection.cork()
      receivers.add(receiver)
      receiver.socket.send(data, { binary: true })
    }
  }
  for (const { connection } of receivers) connection.uncork()
}

const server = createServer((_request, response) => response.end('ok'))
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket, request) => {
  const room = rooms.get(request.url ?? '') ?? new Set()
  const receiver: Receiver = { socket, connection: request.socket }
  rooms.set(request.url ?? '', room.add(receiver))
  socket.on('message', (data: Buffer) => {
    gathering.push({ data, from: receiver, room })
    schedule()
  })
  socket.on('close', () => room.delete(receiver))
})
server.listen(Number(port), '127.0.0.1')
