import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { frameRaw } from '../../../../src/core/sync/protocols/frame.ts'
import { ForwardedSocket } from '../../../../src/core/sync/socket/forwarded-socket.ts'
import { WriteBatch } from '../../../../src/core/sync/socket/socket-writer.ts'
import { eventually } from '../../../support/clients/clients.ts'

const opened: Socket[] = []
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy()
})

/** Returns both ends of a connection. */
async function connection(): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [far] = (await once(server, 'connection')) as [Socket]
  server.close()
  opened.push(near, far)
  return [near, far]
}

it('[FW-12] a client takes no more shared frames while too many wait for the end of a message', async () => {
  const [client, page] = await connection()
  const [socket, owner] = await connection()
  const bytes = { request: 0, response: 0 }
  const changes: boolean[] = []
  const dependencies = {
    metrics: { forwarded: { requests: {} as never, bytes } },
    frameReceiver: { changed: ({ isReady }: { readonly isReady: boolean }) => void changes.push(isReady) },
    acceptor: { batch: new WriteBatch() },
  }
  const upgraded = { socket, head: Buffer.alloc(0) }
  const forwarded = new ForwardedSocket(
    { client, head: Buffer.alloc(0) },
    { node: 'owner', number: 1 },
    upgraded,
    dependencies,
  )
  const message = Buffer.from(frameRaw(Buffer.alloc(1_000)))
  owner.write(message.subarray(0, 500))
  await eventually(() => bytes.response === 500)
  const frames = Buffer.from(frameRaw(Buffer.alloc(40_000)))
  for (let turn = 0; turn < 2; turn++) {
    forwarded.share(frames)
    await new Promise(setImmediate)
  }
  expect(changes).toEqual([false])
  let received = Buffer.alloc(0)
  page.on('data', (part: Buffer) => {
    received = Buffer.concat([received, part])
  })
  owner.write(message.subarray(500))
  await eventually(() => received.length === message.length + 2 * frames.length)
  expect(received.equals(Buffer.concat([message, frames, frames]))).toBe(true)
  await eventually(() => changes.length === 2)
  expect(changes).toEqual([false, true])
})
