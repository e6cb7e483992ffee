import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'

/** A message that the mirror receives. The byte arrays in it are views on the received bytes. */
export type SourceMessage =
  | { readonly kind: 'vector'; readonly vector: Uint8Array }
  /** Answer to a request for updates. */
  | { readonly kind: 'offer'; readonly update: Uint8Array }
  | { readonly kind: 'update'; readonly update: Uint8Array }
  /** The server has accepted the token. Only some protocols have this message. */
  | { readonly kind: 'admitted' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'ping' }
  | { readonly kind: 'other' }

/**
 * The protocol of an old server, limited to reading. It has no messages for edits or awareness, so the mirror
 * cannot change anything on the old server.
 */
export interface SourceProtocol {
  /** Returns why a document with this name cannot be requested; null if it can be requested. */
  nameProblem(name: string): string | null
  url(base: URL, name: string, token: string | null): URL
  /**
   * Returns the first message that the client sends; null if the protocol has none. Without this message, the
   * server does not send `admitted`.
   */
  hello(name: string, token: string | null): Uint8Array | null
  /** Encodes a request for the updates that are missing in a client with this state vector. */
  ask(name: string, vector: Uint8Array): Uint8Array
  /**
   * Decodes a message.
   * @throws Error if the message does not belong to the protocol, or if it concerns another document
   */
  read(name: string, message: Uint8Array): SourceMessage
}

export type DialectName = 'y-websocket' | 'hocuspocus'

const type = { sync: 0, auth: 2, syncReply: 4, close: 7, ping: 9 } as const
const sync = { vector: 0, offer: 1, update: 2 } as const
const auth = { token: 0, denied: 1, admitted: 2 } as const

export const pongMessage = Uint8Array.of(10)

/**
 * Matches names that contain characters or segments that a URL drops or changes. Stock clients cannot request
 * such documents either.
 */
const unnameable = /[\\\t\r]|(^|\/)(\.|%2e){1,2}(\/|$)/i

/**
 * Protocol of y-websocket. Each websocket has one document. The path of the URL contains the name without
 * encoding, because stock clients send it in this form.
 */
const yWebsocket: SourceProtocol = {
  nameProblem: (name) => (unnameable.test(name) ? 'a URL with this name leads elsewhere' : null),
  url(base, name, token) {
    const url = new URL(base)
    url.pathname = `${base.pathname.replace(/\/$/, '')}/${name}`
    if (token !== null) url.searchParams.set('token', token)
    return url
  },
  hello: () => null,
  ask: (_name, vector) => encoding.encode((encoder) => writeVector(encoder, vector)),
  read: (_name, message) => readSourceMessage(decoding.createDecoder(message)),
}

/** Protocol of Hocuspocus. Every message starts with the name of its document. */
const hocuspocus: SourceProtocol = {
  nameProblem: () => null,
  url: (base) => base,
  hello: (name, token) =>
    encoding.encode((encoder) => {
      encoding.writeVarString(encoder, name)
      encoding.writeVarUint(encoder, type.auth)
      encoding.writeVarUint(encoder, auth.token)
      encoding.writeVarString(encoder, token ?? '')
    }),
  ask: (name, vector) =>
    encoding.encode((encoder) => {
      encoding.writeVarString(encoder, name)
      writeVector(encoder, vector)
    }),
  read(name, message) {
    if (message.length === 1) return { kind: message[0] === type.ping ? 'ping' : 'other' }
    const decoder = decoding.createDecoder(message)
    if (decoding.readVarString(decoder) !== name) throw new Error('it is about another document')
    return readSourceMessage(decoder)
  },
}

export const sourceProtocols: Readonly<Record<DialectName, SourceProtocol>> = {
  'y-websocket': yWebsocket,
  hocuspocus,
}

function writeVector(encoder: encoding.Encoder, vector: Uint8Array): void {
  encoding.writeVarUint(encoder, type.sync)
  encoding.writeVarUint(encoder, sync.vector)
  encoding.writeVarUint8Array(encoder, vector)
}

/** Encodes an update as a message for Weft, in the y-websocket protocol. */
export const updateMessage = (update: Uint8Array): Uint8Array =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, type.sync)
    encoding.writeVarUint(encoder, sync.update)
    encoding.writeVarUint8Array(encoder, update)
  })

function readSourceMessage(decoder: decoding.Decoder): SourceMessage {
  switch (decoding.readVarUint(decoder)) {
    case type.sync:
    case type.syncReply:
      return readSync(decoder)
    case type.auth:
      return readAuth(decoder)
    case type.close:
      return { kind: 'refused', reason: 'it has closed the document' }
    default:
      return { kind: 'other' }
  }
}

function readSync(decoder: decoding.Decoder): SourceMessage {
  const kind = decoding.readVarUint(decoder)
  const bytes = decoding.readVarUint8Array(decoder)
  switch (kind) {
    case sync.vector:
      return { kind: 'vector', vector: bytes }
    case sync.offer:
      return { kind: 'offer', update: bytes }
    case sync.update:
      return { kind: 'update', update: bytes }
    default:
      throw new Error(`unknown sync message ${kind}`)
  }
}

/**
 * Decodes an authentication message of either protocol. The numbers are the same in both protocols, except
 * that a y-websocket server sends a rejection with the number of `token` instead of `denied`.
 */
function readAuth(decoder: decoding.Decoder): SourceMessage {
  switch (decoding.readVarUint(decoder)) {
    case auth.denied:
      return { kind: 'refused', reason: decoding.readVarString(decoder) }
    case auth.admitted:
      return { kind: 'admitted' }
    case auth.token:
      return decoding.hasContent(decoder)
        ? { kind: 'refused', reason: decoding.readVarString(decoder) }
        : { kind: 'other' }
    default:
      return { kind: 'other' }
  }
}
