import { expect, it } from 'vitest'
import type { ClientSocket, SocketListener } from '../../../src/sync/client-socket.ts'
import { ReadPressure } from '../../../src/sync/pressure.ts'
import { SharedSocket } from '../../../src/sync/shared-socket.ts'
import { frame, ping } from '../../support/hocuspocus-frames.ts'

const nothing = (): void => {}

/** Reads on as long as it is not paused. */
class ReadingSocket implements ClientSocket {
  readonly isOpen = true
  readonly isFull = false
  reading: 'on' | 'paused' = 'on'
  readonly onClosed = nothing
  readonly write = nothing
  readonly whenDrained = nothing
  readonly ping = nothing
  readonly bound = nothing
  readonly close = nothing
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

  say(bytes: Uint8Array, times: number): void {
    for (let count = 0; count < times; count++) this.#listener?.message(Buffer.from(bytes), true)
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it.each([
  ['to a name that is not open', frame('acme/stray/main', 3)],
  ['to the socket itself', ping],
])('[LOAD-4] what is said on a shared socket %s has a share of each turn', async (_what, bytes) => {
  const socket = new ReadingSocket()
  const pressure = new ReadPressure(() => 0, 1_000, nothing)
  const parts = { address: '192.0.2.1', pressure, knocked: nothing, tooMuch: nothing, gone: nothing }
  new SharedSocket(socket, parts).know('ws')
  socket.say(bytes, ReadPressure.messagesPerTurn - 1)
  expect(socket.reading).toBe('on')
  socket.say(bytes, 50)
  expect(socket.reading).toBe('paused')
  await nextTurn()
  expect(socket.reading).toBe('on')
})

it('[LOAD-4] who becomes known while it waits for a turn goes on, and nobody waits for it afterwards', async () => {
  const pressure = new ReadPressure(() => 0, 1_000, nothing)
  const parts = { address: '192.0.2.1', pressure, knocked: nothing, tooMuch: nothing, gone: nothing }
  const sockets = [new ReadingSocket(), new ReadingSocket()] as const
  const [first] = sockets.map((socket) => new SharedSocket(socket, parts))
  for (const socket of sockets) socket.say(ping, ReadPressure.messagesPerTurn)
  expect(sockets.map(({ reading }) => reading)).toEqual(['paused', 'paused'])
  first?.know('ws')
  for (let turns = 0; turns < 5; turns++) await nextTurn()
  expect(sockets.map(({ reading }) => reading)).toEqual(['on', 'on'])
})
