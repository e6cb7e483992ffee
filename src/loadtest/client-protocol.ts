import {
  messageYjsSyncStep2 as offer,
  messageYjsUpdate as update,
  messageYjsSyncStep1 as vector,
} from 'y-protocols/sync'
import { encodeVarUint, prefixed, readVarUint } from './websocket-frames.ts'

const [sync, awareness] = [0, 1]

/** How a server wants to be spoken to. Payloads of binary websocket messages. */
export interface ClientProtocol {
  /** What a client says before everything else. */
  hello(document: string): readonly Buffer[]
  /** Asks for all that is there. */
  ask(document: string): Buffer
  /** Answers the question that a server asks everybody: there is nothing. */
  offerNothing(document: string): Buffer
  update(document: string, bytes: Uint8Array): Buffer
  awareness(document: string, bytes: Uint8Array): Buffer
  /** What is in a message; null where that is nothing to be measured. */
  read(payload: Buffer): ServerMessage | null
}

/** An `offer` is the answer to a question. */
export interface ServerMessage {
  readonly kind: 'update' | 'offer' | 'awareness'
  readonly bytes: Buffer
}

const emptyVector = Buffer.of(0)

/** From where the type of a message is. */
export function readFrom(payload: Buffer, at: number): ServerMessage | null {
  const type = payload[at]
  if (type === awareness) return { kind: 'awareness', bytes: bodyAt(payload, at + 1) }
  const kind = payload[at + 1]
  if ((type !== sync && type !== syncReply) || (kind !== update && kind !== offer)) return null
  return { kind: kind === offer ? 'offer' : 'update', bytes: bodyAt(payload, at + 2) }
}

function bodyAt(payload: Buffer, at: number): Buffer {
  const { value, end } = readVarUint(payload, at)
  return payload.subarray(end, end + value)
}

/** An answer that wants no answer. */
const syncReply = 4

/** y-websocket's, which relays don't look at. */
export const yWebsocketMessages: ClientProtocol = {
  hello: () => [],
  ask: () => Buffer.concat([Buffer.of(sync, vector), prefixed(emptyVector)]),
  offerNothing: () => Buffer.concat([Buffer.of(sync, offer), prefixed(Buffer.of(0, 0))]),
  update: (_document, bytes) => Buffer.concat([Buffer.of(sync, update), prefixed(bytes)]),
  awareness: (_document, bytes) => Buffer.concat([Buffer.of(awareness), prefixed(bytes)]),
  read: (payload) => readFrom(payload, 0),
}

/** A keystroke at the end of what its client has typed: what Yjs makes of `insert` there, byte by byte. */
export function encodeKeystroke(client: number, clock: number, character = 97): Buffer {
  const id = encodeVarUint(client)
  const head = [Buffer.of(1, 1), id, encodeVarUint(clock)]
  const place =
    clock === 0
      ? [Buffer.of(4, 1), prefixed(Buffer.from('content'))]
      : [Buffer.of(0x84), id, encodeVarUint(clock - 1)]
  return Buffer.concat([...head, ...place, Buffer.of(1, character, 0)])
}
