import { type ClientProtocol, readFrom, yWebsocketMessages } from './client-protocol.ts'
import { prefixed, readVarUint } from './load-socket.ts'

const auth = 2

const named = (document: string, message: Buffer): Buffer =>
  Buffer.concat([prefixed(Buffer.from(document)), message])

/** Messages of Hocuspocus. Each message starts with the name of its document. */
export const hocuspocusMessages: ClientProtocol = {
  hello: (document) => [named(document, Buffer.concat([Buffer.of(auth, 0), prefixed(Buffer.from('token'))]))],
  ask: (document) => named(document, yWebsocketMessages.ask(document)),
  offerNothing: (document) => named(document, yWebsocketMessages.offerNothing(document)),
  update: (document, bytes) => named(document, yWebsocketMessages.update(document, bytes)),
  awareness: (document, bytes) => named(document, yWebsocketMessages.awareness(document, bytes)),
  read: (payload) => {
    const { value, end } = readVarUint(payload, 0)
    return readFrom(payload, end + value)
  },
}
