/** A message on NATS: the publisher and the sequence numbers, followed by the content. */
interface Frame {
  /** Id of the bus that published the message. A node has a new id after each start. */
  readonly publisher: string
  /**
   * Sequence number of the message. It is greater than the numbers of all earlier messages of this publisher.
   */
  readonly number: number
  /** Sequence number of the previous message of this publisher on the same topic; 0 if it is unknown. */
  readonly previous: number
  readonly message: Uint8Array
}

const version = 1
const publisherBytes = 16
const headBytes = 1 + publisherBytes + 6 + 6

/** Formats the random id of a bus in the form of `Frame.publisher`. */
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

/**
 * Decodes a frame. Returns null if the bytes are not a frame of this version. The returned `message` is a
 * view of `bytes`.
 */
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
