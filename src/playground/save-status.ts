import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { WebsocketProvider } from 'y-websocket'

const messageSync = 0
const messageSaved = 111

/**
 * Reports whether all edits of this window are on the disk of the server. The provider must have `saved: '1'`: the
 * server then counts the updates, and the replies to its sync requests, that it has stored.
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
    // One byte is only the message type; more is the reply to a sync request of the server, with all missing updates.
    if (encoding.length(encoder) > before + 1) sent += 1
  }
  messageHandlers[messageSaved] = (_encoder, decoder) => {
    saved = decoding.readVarUint(decoder)
    show(saved === sent)
  }
  provider.on('status', ({ status }) => {
    // Unsent edits are part of the first reply on the next connection, on which both sides count from zero.
    if (status === 'connected') [sent, saved] = [0, 0]
  })
}
