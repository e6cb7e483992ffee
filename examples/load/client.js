import { createDecoder, readVarUint } from 'lib0/decoding'
import { createEncoder, length, toUint8Array, writeVarUint } from 'lib0/encoding'
import { WebSocket } from 'ws'
import { readSyncMessage, writeSyncStep1, writeUpdate } from 'y-protocols/sync'
import * as Y from 'yjs'

const messageSync = 0
const againMs = 1000
/** Closed with one of these a client stays away: it would be refused again. */
const isRefusal = (code) => code >= 4400 && code < 4500

/** One who edits: a Y.Doc, and what y-websocket's provider says on the wire. No awareness, and no cursor. */
export class Client {
  #url
  #watch
  #socket = null
  #isEnded = false

  /** @param watch is told: `connected(ms)`, `closed(code)`, `typed(doc)`, `seen(client, from, to)` in clocks of Yjs */
  constructor(url, watch) {
    this.#url = url
    this.#watch = watch
    this.doc = new Y.Doc()
    this.text = this.doc.getText('content')
    this.doc.on('update', (update, origin) => {
      if (origin !== this) this.#send((encoder) => writeUpdate(encoder, update))
    })
    this.doc.on('afterTransaction', ({ origin, beforeState, afterState }) => {
      if (origin !== this) return
      for (const [client, clock] of afterState) {
        const before = beforeState.get(client) ?? 0
        if (clock > before) watch.seen(client, before, clock)
      }
    })
  }

  /** Resolves when all that is there has come, or with the first refusal. Comes back by itself when it is closed. */
  open() {
    return new Promise((resolve) => this.#connect(resolve))
  }

  /** One character, at the end. */
  type() {
    this.#watch.typed(this.doc)
    this.text.insert(this.text.length, 'x')
  }

  end() {
    this.#isEnded = true
    this.#socket?.close()
    this.doc.destroy()
  }

  #connect(resolve) {
    const began = performance.now()
    const socket = new WebSocket(this.#url, { perMessageDeflate: false })
    let isSynced = false
    this.#socket = socket
    socket.on('open', () => this.#send((encoder) => writeSyncStep1(encoder, this.doc)))
    socket.on('message', (bytes) => {
      if (this.#read(new Uint8Array(bytes)) !== 1 || isSynced) return
      isSynced = true
      this.#watch.connected(performance.now() - began)
      resolve()
    })
    socket.on('error', () => {})
    socket.on('close', (code) => {
      if (this.#isEnded) return
      this.#watch.closed(code)
      if (isRefusal(code)) resolve()
      else setTimeout(() => this.#isEnded || this.#connect(resolve), againMs)
    })
  }

  /** Which message of the sync protocol it was, -1 for another one: 0 asks, 1 answers, 2 is an update. */
  #read(bytes) {
    const decoder = createDecoder(bytes)
    if (readVarUint(decoder) !== messageSync) return -1
    const encoder = createEncoder()
    writeVarUint(encoder, messageSync)
    const type = readSyncMessage(decoder, encoder, this.doc, this)
    if (length(encoder) > 1) this.#socket.send(toUint8Array(encoder))
    return type
  }

  #send(write) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return
    const encoder = createEncoder()
    writeVarUint(encoder, messageSync)
    write(encoder)
    this.#socket.send(toUint8Array(encoder))
  }
}
