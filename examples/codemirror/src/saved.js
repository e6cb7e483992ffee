import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'

const messageSync = 0
const messageSaved = 111

/**
 * Reports whether all edits of this user are durable on the server. For y-websocket's WebsocketProvider with
 * `params: { saved: '1' }`: the server counts the updates and the sync answers that it has stored.
 */
export function watchSaved(provider, onChange) {
  let [sent, saved, isSaved] = [0, 0, true]
  const show = (now) => {
    if (now !== isSaved) onChange(now)
    isSaved = now
  }
  provider.doc.on('update', (_update, origin) => {
    if (origin === provider) return
    if (provider.wsconnected) sent += 1
    show(false)
  })
  const readSync = provider.messageHandlers[messageSync]
  provider.messageHandlers[messageSync] = (encoder, ...rest) => {
    const before = encoding.length(encoder)
    readSync(encoder, ...rest)
    // One byte is the message type. More bytes are the answer to a state vector, with all updates that the
    // server lacks.
    if (encoding.length(encoder) > before + 1) sent += 1
  }
  provider.messageHandlers[messageSaved] = (_encoder, decoder) => {
    saved = decoding.readVarUint(decoder)
    show(saved === sent)
  }
  provider.on('status', ({ status }) => {
    // The first answer on a new connection contains all unsent updates, and both counts start at 0.
    if (status === 'connected') [sent, saved] = [0, 0]
  })
}
