import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { WebsocketProvider } from 'y-websocket'

const messageSync = 0
const messageSaved = 111

/**
 * Tells whether all that was typed here is on the server's disk. For a provider that was made with `saved: '1'`: the
 * server counts the updates, and the answers to its questions, that it has stored.
 */
export function watchSaveStatus(provider: WebsocketProvider, onChange: (isSaved: boolean) => void): void {
  let [sent, saved, isSaved] = [0, 0, true]
  const show = (now: boolean): void => {
    if (now !== isSaved) onChange(now)
    isSaved = now
  }
  provider.doc.on('update', (_update: Uint8Array, origin: unknown) => {
    if (origin === provider) return
    if (provider.wsconnected) sent += 1
    show(false)
  })
  const { messageHandlers } = provider
  const readSync = messageHandlers[messageSync]
  messageHandlers[messageSync] = (encoder, ...rest) => {
    const before = encoding.length(encoder)
    readSync?.(encoder, ...rest)
    // One byte says that it is about syncing; more is the answer to what the server has asked: all that it lacks.
    if (encoding.length(encoder) > before + 1) sent += 1
  }
  messageHandlers[messageSaved] = (_encoder, decoder) => {
    saved = decoding.readVarUint(decoder)
    show(saved === sent)
  }
  provider.on('status', ({ status }) => {
    // What could not be sent is part of the first answer on the next connection, on which both start anew.
    if (status === 'connected') [sent, saved] = [0, 0]
  })
}
