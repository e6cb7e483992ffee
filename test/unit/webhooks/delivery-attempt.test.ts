import { afterEach, expect, it } from 'vitest'
import { postLimits } from '../../../src/core/outgoing/http-post.ts'
import { onRequest } from '../../support/clients/delivery-receiver.ts'
import { answer, attempting, saying, started, stopReceivers } from './attempt-setup.ts'

afterEach(stopReceivers)

it('[HOOK-120] sends one POST with exactly the given headers and bytes', async () => {
  const body = Buffer.from(JSON.stringify({ text: 'Zoë 😀' }))
  const { receiver, outcome } = await attempting(saying(answer(200)), {
    headers: { 'webhook-id': 'msg_1', authorization: 'Basic abc' },
    body,
  })
  expect(await outcome).toEqual({ result: 'answered', httpStatus: 200, durationMs: 0, error: null })
  const [head = '', sent = ''] = receiver.received.split('\r\n\r\n')
  const [first, ...headers] = head.split('\r\n')
  expect(first).toBe('POST /hook?a=b HTTP/1.1')
  expect(headers.sort()).toEqual([
    'Connection: close',
    'authorization: Basic abc',
    `content-length: ${body.byteLength}`,
    'content-type: application/json',
    `host: 127.0.0.1:${receiver.port}`,
    'user-agent: Weft',
    'webhook-id: msg_1',
  ])
  expect(Buffer.from(sent, 'latin1').equals(body)).toBe(true)
  expect(receiver.connections).toBe(1)
})

it.each([200, 201, 202, 204, 299])('[HOOK-121] treats %i as a success', async (status) => {
  const { outcome } = await attempting(saying(answer(status)))
  expect(await outcome).toEqual({ result: 'answered', httpStatus: status, durationMs: 0, error: null })
})

it.each([400, 401, 404, 409, 429, 500, 502, 503, 599, 999])(
  '[HOOK-121] treats %i as a failure',
  async (status) => {
    const { outcome } = await attempting(saying(answer(status)))
    expect(await outcome).toEqual({
      result: 'status',
      httpStatus: status,
      durationMs: 0,
      error: `the receiver answered ${status}`,
    })
  },
)

it('[HOOK-121] treats 410 as a permanent rejection', async () => {
  const { outcome } = await attempting(saying(answer(410)))
  expect(await outcome).toEqual({
    result: 'status',
    httpStatus: 410,
    durationMs: 0,
    error: 'the receiver accepts no more events (410)',
  })
})

it.each([300, 301, 302, 303, 307, 308])(
  '[HOOK-122] treats %i as a failure, and does not follow the redirect',
  async (status) => {
    const inside = await started(saying(answer(200)))
    const location = `location: http://127.0.0.1:${inside.port}/\r\n`
    const { receiver, outcome } = await attempting(saying(answer(status, location)))
    expect(await outcome).toMatchObject({
      httpStatus: status,
      error: expect.stringMatching('not followed'),
    })
    expect([receiver.connections, inside.connections]).toEqual([1, 0])
  },
)

it('[HOOK-123] does not send a body that is too large or a header value that is not valid', async () => {
  const { bodyBytesMax, headerBytesMax } = postLimits
  const deliveries = [
    { body: Buffer.alloc(bodyBytesMax + 1) },
    { headers: { authorization: 'a'.repeat(headerBytesMax) } },
    { headers: { authorization: 'Basic a\r\nx-more: b' } },
    { headers: { authorization: 'Basic ä😀' } },
  ]
  for (const delivery of deliveries) {
    const { receiver, outcome } = await attempting(saying(answer(200)), delivery)
    expect(await outcome).toMatchObject({ httpStatus: null, error: expect.any(String) })
    expect(receiver.connections).toBe(0)
  }
})

it('[HOOK-123] sends a body of the maximum size', async () => {
  const body = Buffer.alloc(postLimits.bodyBytesMax, 'a')
  let bytes = 0
  const { outcome } = await attempting(
    (socket) => {
      socket.on('data', (chunk) => {
        bytes += chunk.byteLength
        if (bytes > body.byteLength) socket.write(answer(200))
      })
    },
    { body },
  )
  expect(await outcome).toMatchObject({ result: 'answered' })
})

it('[HOOK-124] reports an aborted attempt as interrupted, and not as a response of the receiver', async () => {
  const hanging = await attempting((socket) => onRequest(socket, () => hanging.stop.abort()))
  expect(await hanging.outcome).toBeNull()
  await expect.poll(() => hanging.receiver.open).toBe(0)
})

it('[HOOK-124] sends nothing after an attempt was aborted', async () => {
  const { receiver, outcome, stop } = await attempting(saying(answer(200)))
  stop.abort()
  expect(await outcome).toBeNull()
  await expect.poll(() => receiver.open).toBe(0)
  expect(receiver.received).toBe('')
})
