import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import { type PostResponse, post } from '../../../src/outgoing/http-post.ts'
import { postLimits } from '../../../src/outgoing/post-limits.ts'

let server: Server

afterEach(() => void server.close())

/** Posts to a receiver that writes the body of its response as raw HTTP chunks. */
async function answered(
  chunks: string,
  reads: 'status' | 'body',
  answerBytesMax: number,
): Promise<PostResponse> {
  server = createServer()
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {})
    socket.once('data', () =>
      socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const call = { url, host: '127.0.0.1', headers: {}, body: Buffer.from('{}'), authorities: undefined }
  const lookup = (): void => {
    throw new Error('an address needs no lookup')
  }
  const limits = { ...postLimits, answerBytesMax }
  return post(
    { ...call, lookup },
    { signal: new AbortController().signal, limits, clock: systemClock },
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
