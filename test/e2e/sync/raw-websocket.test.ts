import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { deflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

const messageBytesMax = 65_536

let server: TestServer
let path: string
beforeAll(async () => {
  server = await startTestServer({ maxMessageBytes: messageBytesMax })
  path = `/sync/acme/raw/main?token=${await server.token('ada')}`
})
afterAll(() => server?.stop())

/** A frame of a client, masked with zeroes. */
function frameOf(first: number, payload: Uint8Array, announced = payload.length): Buffer {
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(announced))
  return Buffer.concat([Uint8Array.of(first, 0xff), length, Buffer.alloc(4), payload])
}

/** A websocket in raw bytes: a test masks, checks and negotiates everything itself. */
class Bytes {
  readonly socket: Socket
  #received = Buffer.alloc(0)
  #head = ''

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('error', () => {})
    this.socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
    })
  }

  static async open(extensions = ''): Promise<Bytes> {
    const bytes = new Bytes(server.port)
    const lines = [
      `GET ${path} HTTP/1.1`,
      'host: x',
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      `sec-websocket-key: ${randomBytes(16).toString('base64')}`,
      ...(extensions === '' ? [] : [`sec-websocket-extensions: ${extensions}`]),
    ]
    bytes.socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    await eventually(() => bytes.#takeHead())
    return bytes
  }

  get head(): string {
    return this.#head
  }

  frame(first: number, payload: Uint8Array, announced = payload.length): void {
    this.socket.write(frameOf(first, payload, announced))
  }

  /** Resolves with the code of the close frame. */
  async closeCode(): Promise<number> {
    await eventually(() => this.#closeAt() !== -1)
    return this.#received.readUInt16BE(this.#closeAt() + 2)
  }

  get hasFrames(): boolean {
    return this.#received.length > 0
  }

  /** Bytes received after the close frame. */
  get afterClose(): Buffer {
    const at = this.#closeAt()
    return this.#received.subarray(at + 2 + (this.#received[at + 1] as number))
  }

  #takeHead(): boolean {
    const end = this.#received.indexOf('\r\n\r\n')
    if (end === -1) return false
    this.#head = this.#received.subarray(0, end).toString()
    this.#received = this.#received.subarray(end + 4)
    return true
  }

  /** Reads whole frames of the server, which are not masked. */
  #closeAt(): number {
    let at = 0
    while (at + 4 <= this.#received.length) {
      if (this.#received[at] === 0x88) return at
      const short = (this.#received[at + 1] as number) & 127
      at += short < 126 ? 2 + short : 4 + this.#received.readUInt16BE(at + 2)
    }
    return -1
  }
}

const [final, more, compressed] = [0x80, 0x00, 0x40]
const [continuation, binary] = [0x00, 0x02]

/** A close frame of a client, with 1000. */
const closing = Buffer.from([final | 0x08, 0x82, 0, 0, 0, 0, 0x03, 0xe8])

const bomb = (): Buffer => deflateRawSync(Buffer.alloc(2 ** 26))

it('[SEC-5] declines every offer of compression, and closes the socket on a compressed frame without reading the frame', async () => {
  for (const offer of [
    'permessage-deflate',
    'permessage-deflate; client_max_window_bits, x-webkit-deflate-frame',
  ]) {
    const bytes = await Bytes.open(offer)
    expect(bytes.head).toContain('101 Switching Protocols')
    expect(bytes.head.toLowerCase()).not.toContain('sec-websocket-extensions')
    bytes.frame(final | compressed | binary, bomb())
    expect(await bytes.closeCode()).toBe(1002)
    bytes.socket.destroy()
  }
})

it('[SEC-5] closes with 4413 as soon as the length of a message exceeds the limit', async () => {
  const announced = await Bytes.open()
  announced.frame(final | binary, new Uint8Array(), messageBytesMax + 1)
  expect(await announced.closeCode()).toBe(4413)
  const huge = await Bytes.open()
  huge.frame(final | binary, new Uint8Array(), 2 ** 40)
  expect(await huge.closeCode()).toBe(4413)
  const pieces = await Bytes.open()
  for (let sent = 0; sent <= messageBytesMax; sent += 16_384)
    pieces.frame(sent === 0 ? more | binary : more | continuation, Buffer.alloc(16_384))
  expect(await pieces.closeCode()).toBe(4413)
  for (const { socket } of [announced, huge, pieces]) socket.destroy()
})

it('[SEC-5] accepts a message whose length is exactly the limit', async () => {
  const bytes = await Bytes.open()
  bytes.frame(final | binary, Buffer.alloc(messageBytesMax))
  // The server reads the frame, which is not a valid message.
  expect(await bytes.closeCode()).toBe(4400)
  bytes.socket.destroy()
})

it('[SYNC-26] sends nothing after a close frame, even if an answer was in progress', async () => {
  const other = await RawClient.connect(`${server.wsUrl}${path}`)
  other.sendAwareness(1, 1, { name: 'somebody to be told of' })
  await other.roundTrip()
  const asks = frameOf(final | binary, Uint8Array.of(3))
  for (const ending of [
    frameOf(final | binary, new Uint8Array(), messageBytesMax + 1),
    closing,
    frameOf(final | binary, Uint8Array.of(99)),
  ]) {
    const bytes = await Bytes.open()
    await eventually(() => bytes.hasFrames)
    const ended = once(bytes.socket, 'close')
    bytes.socket.write(Buffer.concat([asks, ending]))
    await bytes.closeCode()
    bytes.socket.write(closing)
    await ended
    expect(bytes.afterClose).toEqual(Buffer.alloc(0))
  }
  other.end()
})

it('[SEC-5] closes a socket whose message has more fragments than any real client sends', async () => {
  const bytes = await Bytes.open()
  bytes.frame(more | binary, Uint8Array.of(0))
  for (let piece = 0; piece < 2_000; piece++) bytes.frame(more | continuation, new Uint8Array())
  expect(await bytes.closeCode()).toBe(1008)
  bytes.socket.destroy()
})

itLong(
  '[SEC-5] serves other clients while some clients never send a message that they announced, or never answer the close',
  async () => {
    const silent = await Promise.all(Array.from({ length: 50 }, () => Bytes.open()))
    for (const bytes of silent) bytes.frame(final | binary, Uint8Array.of(0), 60_000)
    const client = await RawClient.connect(`${server.wsUrl}${path}`)
    client.sendUpdate(typed('still here', 1))
    await client.roundTrip()
    client.end()
    for (const { socket } of silent) socket.destroy()
    const refused = new Bytes(server.port)
    const key = randomBytes(16).toString('base64')
    refused.socket.write(
      `GET /sync/a/b/c?token=bad HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`,
    )
    await once(refused.socket, 'close')
  },
)
