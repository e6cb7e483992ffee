// A small server of y-websocket that makes one mistake on purpose, to test the benchmark.
// Arguments: the mistake, a port, and a directory.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { WebSocketServer } from 'ws'
import * as Y from 'yjs'

const [mistake = '', port, directory = ''] = process.argv.slice(2)
const [sync, awareness] = [0, 1]
const [vector, state, update] = [0, 1, 2]
const rooms = new Map()
const leaked = []
let [updates, clients] = [0, 0]

function messageOf(types, bytes) {
  const encoder = encoding.createEncoder()
  for (const type of types) encoding.writeVarUint(encoder, type)
  encoding.writeVarUint8Array(encoder, bytes)
  return encoding.toUint8Array(encoder)
}

function store(file, bytes) {
  const append = () => appendFileSync(file, `${Buffer.from(bytes).toString('base64')}\n`)
  // A server that shows an update before it is stored.
  if (mistake === 'early') setTimeout(append, 1_000)
  else append()
}

function roomOf(name) {
  const found = rooms.get(name)
  if (found !== undefined) return found
  const file = join(directory, Buffer.from(name).toString('hex'))
  const room = { doc: new Y.Doc(), sockets: new Set(), states: new Map(), file }
  const lines = existsSync(file) && mistake !== 'empties' ? readFileSync(file, 'utf8').split('\n') : []
  for (const line of lines) if (line !== '') Y.applyUpdate(room.doc, Buffer.from(line, 'base64'))
  room.doc.on('update', (bytes, origin) => {
    if (mistake !== 'unloads') store(file, mistake === 'rewrites' ? Y.encodeStateAsUpdate(room.doc) : bytes)
    updates += 1
    const isDropped =
      (mistake === 'drops' && updates % 25 === 0) || (mistake === 'narrows' && bytes.length > 10_000)
    for (const socket of isDropped ? [] : room.sockets) {
      // A server that leaves out updates for a client that reads slowly.
      const isLeftOut = mistake === 'skips' && socket.bufferedAmount > 200_000
      if (socket !== origin && !isLeftOut) socket.send(messageOf([sync, update], bytes))
    }
  })
  rooms.set(name, room)
  return room
}

function repeatSomething({ doc }) {
  const text = doc.getText('content')
  text.insert(0, /<\w+>/.exec(text.toJSON())?.[0] ?? 'x')
}

const server = createServer((_request, response) => response.end('ok'))
new WebSocketServer({ server }).on('connection', (socket, request) => {
  if (mistake === 'refuses') return socket.close(1013)
  const name = request.url ?? ''
  const room = roomOf(name)
  room.sockets.add(socket)
  const isForgotten = mistake === 'forgets' && clients++ % 2 === 0
  if (mistake.startsWith('leaks')) leaked.push(Buffer.alloc(Number(mistake.slice('leaks'.length)), 1))
  socket.send(messageOf([sync, vector], Y.encodeStateVector(room.doc)))
  for (const known of room.states.values()) socket.send(known)
  socket.on('message', (data) => {
    const decoder = decoding.createDecoder(data)
    if (decoding.readVarUint(decoder) === awareness) {
      if (isForgotten) return
      room.states.set(socket, data)
      for (const other of room.sockets) if (other !== socket) other.send(data)
      return
    }
    const type = decoding.readVarUint(decoder)
    const bytes = decoding.readVarUint8Array(decoder)
    if (type === vector) {
      if (mistake === 'closes') setTimeout(() => socket.close(1011), 50)
      return socket.send(messageOf([sync, state], Y.encodeStateAsUpdate(room.doc, bytes)))
    }
    Y.applyUpdate(room.doc, bytes, socket)
    if (mistake === 'doubles' && updates % 25 === 0 && updates < 200) repeatSomething(room)
  })
  socket.on('close', () => {
    room.sockets.delete(socket)
    room.states.delete(socket)
    if (room.sockets.size === 0) rooms.delete(name)
  })
})
server.listen(Number(port), '127.0.0.1')
