import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { WebsocketProvider } from 'y-websocket'

const messageSync = 0
const messageSaved = 111

/**
 * Reports whether the server has stored all edits of this window. The provider must have the parameter
 * `saved: '1'`. The server then sends the number of updates, and of replies to its sync requests, that it has
 * stored.
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
    // If the encoder has only one more byte, this byte is the message type, and there is no reply. A longer
    // message is the reply to a sync request of the server. It contains all updates that the server lacks.
    if (encoding.length(encoder) > before + 1) sent += 1
  }
  messageHandlers[messageSaved] = (_encoder, decoder) => {
    saved = decoding.readVarUint(decoder)
    show(saved === sent)
  }
  provider.on('status', ({ status }) => {
    // After a reconnect, both sides count from zero. The first reply contains all edits that were not sent
    // before.
    if (status === 'connected') [sent, saved] = [0, 0]
  })
}
