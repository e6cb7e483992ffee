import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { WebSocket } from 'ws'
import * as Y from 'yjs'

/** Message types of Hocuspocus that this client uses. The next line has the subtypes of sync messages. */
const [sync, auth, syncReply] = [0, 2, 4]
const [vector, offer, update] = [0, 1, 2]

/** Creates a client that edits a document on a Hocuspocus server. The client reconnects after an outage. */
export function hocuspocusVisitor(url: string, name: string, token = '') {
  const doc = new Y.Doc()
  let state: 'open' | 'closed' = 'open'
  let socket = connected()

  function say(types: readonly number[], bytes: Uint8Array): void {
    const message = encoding.encode((encoder) => {
      encoding.writeVarString(encoder, name)
      for (const type of types) encoding.writeVarUint(encoder, type)
      encoding.writeVarUint8Array(encoder, bytes)
    })
    if (socket.readyState === WebSocket.OPEN) socket.send(message)
  }

  function hear(message: Uint8Array): void {
    const decoder = decoding.createDecoder(message)
    decoding.readVarString(decoder)
    const type = decoding.readVarUint(decoder)
    const kind = decoding.hasContent(decoder) ? decoding.readVarUint(decoder) : -1
    if (type === auth && kind === 2) say([sync, vector], Y.encodeStateVector(doc))
    if (type !== sync && type !== syncReply) return
    const bytes = decoding.readVarUint8Array(decoder)
    if (kind === vector) say([sync, offer], Y.encodeStateAsUpdate(doc, bytes))
    else Y.applyUpdate(doc, bytes, 'server')
  }

  function connected(): WebSocket {
    const made = new WebSocket(url)
    made.on('open', () => say([auth, 0], Buffer.from(token)))
    made.on('message', hear)
    made.on('error', () => {})
    made.on('close', () => {
      if (state === 'open')
        setTimeout(() => {
          if (state === 'open') socket = connected()
        }, 50)
    })
    return made
  }

  doc.on('update', (bytes: Uint8Array, origin: unknown) => {
    if (origin !== 'server') say([sync, update], bytes)
  })
  const close = (): void => {
    state = 'closed'
    socket.terminate()
    doc.destroy()
  }
  return { doc, text: doc.getText('content'), close }
}
