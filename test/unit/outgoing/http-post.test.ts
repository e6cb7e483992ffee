import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/base/clock.ts'
import { type PostResponse, post, postLimits, ResponsePacer } from '../../../src/core/outgoing/http-post.ts'

let server: Server

afterEach(() => void server.close())

/** Posts to a receiver that writes the body of its response as raw HTTP chunks. */
async function answered(
  chunks: string,
  reads: 'status' | 'body',
  answerBytesMax: number,
): Promise<PostResponse> {
  await listen(chunks)
  return posted(reads, answerBytesMax, new ResponsePacer())
}

/** Starts a receiver that responds when it has `count` requests. */
async function listen(chunks: string, count = 1): Promise<void> {
  const waiting: Socket[] = []
  server = createServer()
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      waiting.push(socket)
      if (waiting.length < count) return
      for (const each of waiting.splice(0))
        each.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}

function posted(
  reads: 'status' | 'body',
  answerBytesMax: number,
  pacer: ResponsePacer,
): Promise<PostResponse> {
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const call = { url, host: '127.0.0.1', headers: {}, body: Buffer.from('{}'), authorities: undefined }
  const lookup = (): void => {
    throw new Error('an address needs no lookup')
  }
  const limits = { ...postLimits, answerBytesMax }
  return post(
    { ...call, lookup },
    { signal: new AbortController().signal, limits, clock: systemClock, pacer },
    reads,
  )
}

it('[CALL-83] reads a response in chunks of one byte', async () => {
  const { body } = await answered('1\r\nx\r\n'.repeat(10_000), 'body', 1_000_000)
  expect(body).toEqual(Buffer.alloc(10_000, 'x'))
})

it('[CALL-83] rejects a response with more chunks than four times its limit allows, at 200 bytes each', async () => {
  const accepted = await answered('1\r\nx\r\n'.repeat(2_000), 'body', 100_000)
  expect(accepted.body?.length).toBe(2_000)
  server.close()
  await expect(answered('1\r\nx\r\n'.repeat(2_001), 'body', 100_000)).rejects.toThrow(
    'the answer has more than 2000 chunks: send larger ones',
  )
})

it('[CALL-84] reads few chunks of all responses in one tick', async () => {
  const sockets: Socket[] = []
  const onOpened = (event: unknown): void => void sockets.push((event as { socket: Socket }).socket)
  subscribe('net.client.socket', onOpened)
  onTestFinished(() => void unsubscribe('net.client.socket', onOpened))
  const count = 8
  await listen('1\r\nx\r\n'.repeat(60_000), count)
  const pacer = new ResponsePacer()
  const responses = Promise.all(Array.from({ length: count }, () => posted('body', 10_000_000, pacer)))
  const isDone = { now: false }
  void responses.then(() => {
    isDone.now = true
  })
  let [last, most] = [0, 0]
  while (!isDone.now) {
    await new Promise((resolve) => setImmediate(resolve))
    const read = sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
    most = Math.max(most, read - last)
    last = read
  }
  expect((await responses).map(({ body }) => body?.length)).toEqual(Array(count).fill(60_000))
  // The first read of each response has its headers. Node keeps one more until a connection is read again.
  expect(most).toBeLessThanOrEqual(2 * count * 65_536)
})
