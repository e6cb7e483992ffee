import { afterEach, expect, it, vi } from 'vitest'
import { TickShares } from '../../../../src/core/quota/tick-shares.ts'
import type { DocumentChannel } from '../../../../src/core/sync/multiplex/document-channel.ts'
import { MultiplexedSocket } from '../../../../src/core/sync/multiplex/multiplexed-socket.ts'
import type { ClientSocket, SocketListener } from '../../../../src/core/sync/socket/client-socket.ts'
import { ReadBackpressure } from '../../../../src/core/sync/socket/read-backpressure.ts'
import { frame, ping, tokenFrame } from '../../../support/clients/hocuspocus-frames.ts'

const nothing = (): void => {}

/** Reads while it is not paused. */
class ReadingSocket implements ClientSocket {
  readonly transport = 'websocket'
  get isOpen(): boolean {
    return this.code === null
  }
  readonly isFull = false
  readonly isCrowded = false
  reading: 'on' | 'paused' = 'on'
  /** The close code. */
  code: number | null = null
  readonly onClosed = nothing
  readonly write = nothing
  readonly share = nothing
  readonly whenDrained = nothing
  readonly ping = nothing
  readonly admit = nothing
  readonly terminate = nothing
  #listener: SocketListener | null = null

  listen(listener: SocketListener): void {
    this.#listener = listener
  }

  pause(): void {
    this.reading = 'paused'
  }

  resume(): void {
    this.reading = 'on'
  }

  close(code: number): void {
    this.code = code
  }

  receiveFrames(times: number): void {
    this.#listener?.frames(times, 0)
  }

  say(bytes: Uint8Array, times: number): void {
    for (let count = 0; count < times; count++) this.#listener?.message(Buffer.from(bytes), true)
  }
}

afterEach(() => void vi.useRealTimers())

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it.each([
  ['to a name that is not open', frame('acme/stray/main', 3)],
  ['to the socket itself', ping],
])('[LOAD-4] limits messages of a multiplexed socket %s to a share of each tick', async (_what, bytes) => {
  const socket = new ReadingSocket()
  const pressure = new ReadBackpressure(new TickShares(), () => 0, 1_000, nothing)
  const parts = {
    address: '192.0.2.1',
    backpressure: pressure,
    onToken: nothing,
    onUnauthenticatedLimit: nothing,
    onPermanentClose: nothing,
    onClosed: nothing,
  }
  new MultiplexedSocket(socket, parts).authenticated('ws')
  socket.say(bytes, TickShares.piecesPerTick - 1)
  expect(socket.reading).toBe('on')
  socket.say(bytes, 50)
  expect(socket.reading).toBe('paused')
  await nextTurn()
  expect(socket.reading).toBe('on')
})

it('[LOAD-4] when the workspace of a paused socket becomes known, resumes this socket and the other waiting sockets', async () => {
  const pressure = new ReadBackpressure(new TickShares(), () => 0, 1_000, nothing)
  const parts = {
    address: '192.0.2.1',
    backpressure: pressure,
    onToken: nothing,
    onUnauthenticatedLimit: nothing,
    onPermanentClose: nothing,
    onClosed: nothing,
  }
  const sockets = [new ReadingSocket(), new ReadingSocket()] as const
  const [first] = sockets.map((socket) => new MultiplexedSocket(socket, parts))
  for (const socket of sockets) socket.say(ping, TickShares.piecesPerTick)
  expect(sockets.map(({ reading }) => reading)).toEqual(['paused', 'paused'])
  first?.authenticated('ws')
  for (let turns = 0; turns < 5; turns++) await nextTurn()
  expect(sockets.map(({ reading }) => reading)).toEqual(['on', 'on'])
})

it('[LOAD-4] limits control frames and fragments of a multiplexed socket to a share of each tick', async () => {
  const socket = new ReadingSocket()
  const pressure = new ReadBackpressure(new TickShares(), () => 0, 1_000, nothing)
  const parts = {
    address: '192.0.2.1',
    backpressure: pressure,
    onToken: nothing,
    onUnauthenticatedLimit: nothing,
    onPermanentClose: nothing,
    onClosed: nothing,
  }
  new MultiplexedSocket(socket, parts).authenticated('ws')
  socket.receiveFrames(TickShares.piecesPerTick)
  expect(socket.reading).toBe('paused')
  await nextTurn()
  expect(socket.reading).toBe('on')
})

it('[LOAD-4] counts a token as 20 more frames', async () => {
  const socket = new ReadingSocket()
  const pressure = new ReadBackpressure(new TickShares(), () => 0, 1_000, nothing)
  const parts = {
    address: '192.0.2.1',
    backpressure: pressure,
    onToken: (channel: DocumentChannel) => channel.resume(),
    onUnauthenticatedLimit: nothing,
    onPermanentClose: nothing,
    onClosed: nothing,
  }
  new MultiplexedSocket(socket, parts).authenticated('ws')
  const sendTokens = (from: number, to: number): void => {
    for (let at = from; at < to; at++) socket.say(tokenFrame(`acme/${at}/main`, 'token'), 1)
  }
  const most = Math.floor(TickShares.piecesPerTick / 21)
  sendTokens(0, most)
  expect(socket.reading).toBe('on')
  sendTokens(most, most + 1)
  expect(socket.reading).toBe('paused')
})

it('[DIA-24] keeps a socket open for a document that joins after another document was rejected temporarily', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const socket = new ReadingSocket()
  const pressure = new ReadBackpressure(new TickShares(), () => 0, 1_000, nothing)
  const channels: DocumentChannel[] = []
  const onToken = (channel: DocumentChannel): void => void channels.push(channel)
  const parts = {
    address: '192.0.2.1',
    backpressure: pressure,
    onToken,
    onUnauthenticatedLimit: nothing,
    onPermanentClose: nothing,
    onClosed: nothing,
  }
  new MultiplexedSocket(socket, parts).authenticated('ws')
  for (const name of ['acme/one/main', 'acme/two/main']) socket.say(tokenFrame(name, 'token'), 1)
  const [one, two] = channels as [DocumentChannel, DocumentChannel]
  one.close(1013, 'try again')
  two.listen({
    message: nothing,
    messageTooLarge: nothing,
    frames: nothing,
    incomplete: nothing,
  })
  vi.advanceTimersByTime(2_000)
  expect(socket.code).toBeNull()
  vi.advanceTimersByTime(6_000)
  expect(socket.code).toBe(1013)
})

it('[DIA-43] uses the messages of a paused document that arrive before the client leaves it', () => {
  const socket = new ReadingSocket()
  const channels: DocumentChannel[] = []
  const parts = {
    address: '192.0.2.1',
    backpressure: new ReadBackpressure(new TickShares(), () => 0, 1_000, nothing),
    onToken: (channel: DocumentChannel): void => void channels.push(channel),
    onUnauthenticatedLimit: nothing,
    onPermanentClose: nothing,
    onClosed: nothing,
  }
  new MultiplexedSocket(socket, parts).authenticated('ws')
  const name = 'acme/one/main'
  socket.say(tokenFrame(name, 'token'), 1)
  const [channel] = channels as [DocumentChannel]
  socket.say(frame(name, 3, 1), 1)
  const received: number[] = []
  const message = (data: Buffer): void => {
    received.push(data[1] as number)
    channel.pause()
  }
  channel.listen({ message, messageTooLarge: nothing, frames: nothing, incomplete: nothing })
  channel.resume()
  socket.say(frame(name, 3, 2), 1)
  socket.say(frame(name, 7), 1)
  expect([received, channel.isOpen, socket.reading]).toEqual([[1, 2], false, 'on'])
})
