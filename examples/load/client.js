import { createDecoder, readVarUint } from 'lib0/decoding'
import { createEncoder, length, toUint8Array, writeVarUint } from 'lib0/encoding'
import { WebSocket } from 'ws'
import { readSyncMessage, writeSyncStep1, writeUpdate } from 'y-protocols/sync'
import * as Y from 'yjs'

const messageSync = 0
const againMs = 1000
/** Returns whether a close code is permanent: the server would reject the client again. */
const isRefusal = (code) => code >= 4400 && code < 4500

/** A client that edits: a Y.Doc and the wire protocol of y-websocket's provider, without awareness. */
export class Client {
  #url
  #watch
  #socket = null
  #isEnded = false

  /**
   * @param watch receives `connected(ms)`, `closed(code)`, `typed(doc)`, and `seen(client, from, to)` in Yjs
   * clocks
   */
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

  /** Resolves when the content has arrived, or with the first rejection. Reconnects after a close. */
  open() {
    return new Promise((resolve) => this.#connect(resolve))
  }

  /** Types one character at the end. */
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

  /**
   * Returns the type of a sync message: 0 is a state vector, 1 an answer, 2 an update, and -1 another
   * message.
   */
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
