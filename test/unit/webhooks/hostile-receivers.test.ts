import type { Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { AttemptSender } from '../../../src/capabilities/webhooks/sending/delivery-attempt.ts'
import { DestinationPolicy } from '../../../src/core/outgoing/destination-policy.ts'
import { postLimits } from '../../../src/core/outgoing/http-post.ts'
import { type Behavior, onRequest } from '../../support/clients/delivery-receiver.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { answer, attempting, saying, started, stopReceivers } from './attempt-setup.ts'

afterEach(stopReceivers)

const { deadlineMs, drainMs } = postLimits
const failed = { result: 'unreachable', httpStatus: null }
const late = { ...failed, result: 'timeout', durationMs: deadlineMs, error: 'no answer within 15 s' }

/** Writes a byte at a time for as long as the connection lasts. */
const dripping =
  (text: string): Behavior =>
  (socket) =>
    onRequest(socket, () => {
      let at = 0
      const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ''), 1)
      socket.on('close', () => clearInterval(timer))
    })

/** Writes while the connection accepts bytes. @returns the number of accepted bytes */
function pouring(socket: Socket, head: string, chunk: string): { bytes: number } {
  const poured = { bytes: 0 }
  const pour = (): void => {
    while (!socket.destroyed && socket.write(chunk)) poured.bytes += chunk.length
  }
  onRequest(socket, () => {
    socket.write(head)
    socket.on('drain', pour)
    pour()
  })
  return poured
}

const hanging: readonly (readonly [what: string, behavior: Behavior])[] = [
  ['never answers', (socket) => onRequest(socket, () => {})],
  ['never reads', (socket) => socket.pause()],
  ['hangs in the status', saying('HTTP/1.1 2')],
  ['hangs in the headers', saying('HTTP/1.1 200 OK\r\ncontent-le')],
  ['hangs after an interim answer', saying('HTTP/1.1 102 Processing\r\n\r\n')],
  ['answers byte by byte without end', dripping('HTTP/1.1 200 OK\r\nx: ')],
]
it.each(hanging)(
  '[HOOK-130] when a receiver %s, fails after 15 s, and not earlier',
  async (_what, behavior) => {
    const body = Buffer.alloc(8 * 2 ** 20)
    const { receiver, clock, outcome } = await attempting(behavior, { body })
    await expect.poll(() => receiver.connections).toBe(1)
    let isOver = false
    void outcome.then(() => {
      isOver = true
    })
    clock.advance(deadlineMs - 1)
    await new Promise(setImmediate)
    expect(isOver).toBe(false)
    clock.advance(1)
    expect(await outcome).toEqual(late)
    receiver.resume()
    await expect.poll(() => receiver.open).toBe(0)
  },
)

it('[HOOK-130] when the lookup of a name gets no answer, fails after 15 s', async () => {
  const clock = new HeldClock()
  const destinations = new DestinationPolicy([], () => new Promise(() => {}))
  const delivery = { url: 'http://hooks.example.com/', headers: {}, body: Buffer.from('{}') }
  const outcome = new AttemptSender({ destinations, clock }).make(delivery, new AbortController().signal)
  clock.advance(deadlineMs)
  expect(await outcome).toEqual(late)
})

const unfinished: readonly (readonly [what: string, behavior: Behavior])[] = [
  ['hangs after the headers', saying('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n')],
  ['hangs in the body', saying('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab')],
  ['sends its body byte by byte', dripping('HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n')],
]
it.each(unfinished)('[HOOK-131] uses the status of a receiver that %s', async (_what, behavior) => {
  const { receiver, clock, outcome } = await attempting(behavior)
  let durationMs = 0
  const done = outcome.then(() => true)
  // The status may still be in transit. The clock advances in steps shorter than both limits.
  while (!(await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 20, false))]))) {
    clock.advance(drainMs / 10)
    durationMs += drainMs / 10
  }
  expect(await outcome).toEqual({ result: 'answered', httpStatus: 200, durationMs, error: null })
  expect(durationMs).toBeLessThan(deadlineMs)
  await expect.poll(() => receiver.open).toBe(0)
})

it.each([
  ['a length', 'content-length: 1073741824', 'x'.repeat(65_536)],
  ['chunks', 'transfer-encoding: chunked', `10000\r\n${'x'.repeat(65_536)}\r\n`],
  ['no length', 'connection: close', 'x'.repeat(65_536)],
])('[HOOK-132] reads a response body of 1 GB with %s only up to the limit', async (_by, header, chunk) => {
  let poured = { bytes: 0 }
  const { receiver, outcome } = await attempting((socket) => {
    poured = pouring(socket, `HTTP/1.1 200 OK\r\n${header}\r\n\r\n`, chunk)
  })
  expect(await outcome).toMatchObject({ result: 'answered', httpStatus: 200 })
  await expect.poll(() => receiver.open).toBe(0)
  // The buffers of both ends hold more than the limit of the read.
  expect(poured.bytes).toBeLessThan(32 * 2 ** 20)
})

const closing: readonly (readonly [what: string, behavior: Behavior])[] = [
  ['closes at once', (socket) => socket.destroy()],
  ['resets at once', (socket) => socket.resetAndDestroy()],
  ['closes before the answer', (socket) => onRequest(socket, () => socket.end())],
  ['closes in the headers', (socket) => onRequest(socket, () => socket.end('HTTP/1.1 200 OK\r\nx: '))],
]
it.each(closing)('[HOOK-133] fails for a receiver that %s', async (_what, behavior) => {
  const { outcome } = await attempting(behavior)
  expect(await outcome).toEqual({
    ...failed,
    durationMs: 0,
    error: 'the connection was closed before the answer',
  })
})

it.each([
  ['closes', (socket: Socket) => socket.end()],
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
])('[HOOK-131] uses the status of a receiver that %s during the body', async (_what, end) => {
  const { outcome } = await attempting((socket) =>
    onRequest(socket, () =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab', () => setTimeout(() => end(socket), 50)),
    ),
  )
  expect(await outcome).toEqual({ result: 'answered', httpStatus: 200, durationMs: 0, error: null })
})

it('[HOOK-131] ends an attempt if the receiver answers without reading the body', async () => {
  const body = Buffer.alloc(8 * 2 ** 20)
  const { receiver, outcome } = await attempting(
    (socket) => {
      socket.pause()
      socket.write(answer(200))
    },
    { body },
  )
  expect(await outcome).toMatchObject({ result: 'answered', httpStatus: 200 })
  receiver.resume()
  await expect.poll(() => receiver.open).toBe(0)
  expect(receiver.received.length).toBeLessThan(body.byteLength)
})

it('[HOOK-133] fails if no server listens', async () => {
  const gone = await started(() => {})
  const url = `http://127.0.0.1:${gone.port}/`
  gone.stop()
  const { outcome } = await attempting(() => {}, { url })
  expect(await outcome).toEqual({ ...failed, durationMs: 0, error: 'the connection was refused' })
})

const garbage: readonly (readonly [what: string, text: string])[] = [
  ['a greeting of SSH', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['HTML alone', '<html></html>\r\n\r\n'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['bytes', '\x00\x01\x02\x03\xff\r\n\r\n'],
  ['a status that is not a number', 'HTTP/1.1 abc OK\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
  ['a bad length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
  ['a length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n'],
]
it.each(garbage)('[HOOK-134] fails for a response that is not HTTP: %s', async (_what, text) => {
  const { receiver, outcome } = await attempting(saying(text))
  expect(await outcome).toEqual({ ...failed, durationMs: 0, error: 'the answer is not HTTP' })
  await expect.poll(() => receiver.open).toBe(0)
})

const bombs: readonly (readonly [what: string, head: string, chunk: string])[] = [
  ['one header without end', 'HTTP/1.1 200 OK\r\nx: ', 'x'.repeat(1000)],
  ['headers without end', 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'.repeat(100)],
  ['a status text without end', 'HTTP/1.1 200 ', 'x'.repeat(1000)],
  ['interim answers without end', '', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(10)],
  ['large interim answers', '', `HTTP/1.1 103 Early\r\nlink: ${'x'.repeat(8000)}\r\n\r\n`],
]
it.each(bombs)('[HOOK-135] ends the connection of a receiver that sends %s', async (_what, head, chunk) => {
  let poured = { bytes: 0 }
  const { receiver, outcome } = await attempting((socket) => {
    poured = pouring(socket, head, chunk)
  })
  expect(await outcome).toEqual({
    ...failed,
    durationMs: 0,
    error: expect.stringMatching(/too large|too many|not HTTP/),
  })
  await expect.poll(() => receiver.open).toBe(0)
  expect(poured.bytes).toBeLessThan(32 * 2 ** 20)
})

it.each([
  ['trailers', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n', 'x: y\r\n'.repeat(100)],
  ['a chunk extension', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;', 'x'.repeat(1000)],
])('[HOOK-135] uses the status of a receiver that sends %s without end', async (_what, head, chunk) => {
  const { receiver, outcome } = await attempting((socket) => void pouring(socket, head, chunk))
  expect(await outcome).toMatchObject({ result: 'answered', httpStatus: 200 })
  await expect.poll(() => receiver.open).toBe(0)
})

it('[HOOK-135] fails if the receiver switches the protocol', async () => {
  const upgrade = 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
  const { receiver, outcome } = await attempting(saying(upgrade))
  expect(await outcome).toMatchObject({ ...failed, durationMs: 0 })
  await expect.poll(() => receiver.open).toBe(0)
})

it('[HOOK-136] leaves no connection open after a hundred attempts to a silent receiver', async () => {
  const receiver = await started((socket) => onRequest(socket, () => {}))
  const clock = new HeldClock()
  const destinations = new DestinationPolicy(['127.0.0.1'], async () => [])
  const attempts = new AttemptSender({ destinations, clock })
  const delivery = { url: `http://127.0.0.1:${receiver.port}/`, headers: {}, body: Buffer.from('{}') }
  const outcomes = Array.from({ length: 100 }, () => attempts.make(delivery, new AbortController().signal))
  await expect.poll(() => receiver.open).toBe(100)
  clock.advance(deadlineMs)
  expect(await Promise.all(outcomes)).toEqual(outcomes.map(() => late))
  await expect.poll(() => receiver.open).toBe(0)
})
