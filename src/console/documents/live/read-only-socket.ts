import { createDecoder, readVarUint, readVarUint8Array } from 'lib0/decoding'
import { createEncoder, toUint8Array, writeVarUint, writeVarUint8Array } from 'lib0/encoding'
import { messageYjsSyncStep1, messageYjsSyncStep2 } from 'y-protocols/sync'

const types = { sync: 0, awareness: 1 } as const

/** An empty Yjs update (V1). */
const nothing = Uint8Array.of(0, 0)

interface SocketHandlers {
  /** Returns the state vector of the document in the page. */
  readonly vector: () => Uint8Array
  readonly onUpdate: (update: Uint8Array) => void
  /** Called when the initial sync is complete. */
  readonly onSynced: () => void
  readonly onAwareness: (message: Uint8Array) => void
  readonly onClose: (code: number, reason: string) => void
}

/**
 * Opens a connection in the protocol of y-websocket. The connection receives updates, but sends none.
 * @returns a function that closes the connection; `onClose` is not called in this case
 */
export function openReadOnlySocket(url: string, hearing: SocketHandlers): () => void {
  const socket = new WebSocket(url)
  const ending = new AbortController()
  const { signal } = ending
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('open', () => socket.send(message(messageYjsSyncStep1, hearing.vector())), {
    signal,
  })
  socket.addEventListener(
    'message',
    ({ data }: MessageEvent<ArrayBuffer>) => hear(new Uint8Array(data), socket, hearing),
    { signal },
  )
  socket.addEventListener('close', ({ code, reason }) => hearing.onClose(code, reason), { signal })
  return () => {
    ending.abort()
    socket.close()
  }
}

function hear(bytes: Uint8Array, socket: WebSocket, hearing: SocketHandlers): void {
  const decoder = createDecoder(bytes)
  const type = readVarUint(decoder)
  if (type === types.awareness) return hearing.onAwareness(readVarUint8Array(decoder))
  if (type !== types.sync) return
  const step = readVarUint(decoder)
  // Answers the request of the server with an empty update, because a read-only page has no updates to send.
  if (step === messageYjsSyncStep1) return socket.send(message(messageYjsSyncStep2, nothing))
  hearing.onUpdate(readVarUint8Array(decoder))
  if (step === messageYjsSyncStep2) hearing.onSynced()
}

function message(step: number, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = createEncoder()
  writeVarUint(encoder, types.sync)
  writeVarUint(encoder, step)
  writeVarUint8Array(encoder, body)
  return toUint8Array(encoder)
}
