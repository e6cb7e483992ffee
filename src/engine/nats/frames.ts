/** What goes over NATS: a head that says whose message it is and which one, then the message. */
export interface Frame {
  /** The bus that has published it, which is another one after each start. */
  readonly publisher: string
  /** Grows with each message of the publisher. */
  readonly number: number
  /** Number of its message before this one on the same topic; 0: not known. */
  readonly previous: number
  readonly message: Uint8Array
}

const version = 1
const publisherBytes = 16
const headBytes = 1 + publisherBytes + 6 + 6

/** An id for one bus, as it stands in frames. */
export const publisherId = (random: Uint8Array): string => Buffer.from(random).toString('hex')

export function encodeFrame({ publisher, number, previous, message }: Frame): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + message.length)
  bytes[0] = version
  bytes.write(publisher, 1, 'hex')
  bytes.writeUIntBE(number, 17, 6)
  bytes.writeUIntBE(previous, 23, 6)
  bytes.set(message, headBytes)
  return bytes
}

const rest = ({ buffer, byteOffset, length }: Uint8Array, from: number): Uint8Array =>
  new Uint8Array(buffer, byteOffset + from, length - from)

/** Null for what is none of this version. The message is a view. */
export function decodeFrame(bytes: Uint8Array): Frame | null {
  if (bytes.length < headBytes || bytes[0] !== version) return null
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, headBytes)
  return {
    publisher: head.toString('hex', 1, 17),
    number: head.readUIntBE(17, 6),
    previous: head.readUIntBE(23, 6),
    message: rest(bytes, headBytes),
  }
}
