import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock } from '../../../../src/core/base/clock.ts'
import { createLog } from '../../../../src/core/base/log.ts'
import { createMetrics } from '../../../../src/core/metrics/metrics.ts'
import { LimitReports } from '../../../../src/core/quota/limit-reports.ts'
import { yWebsocket } from '../../../../src/core/sync/protocols/y-websocket.ts'
import type { ClientSocket } from '../../../../src/core/sync/socket/client-socket.ts'
import { SocketAcceptor } from '../../../../src/core/sync/socket/local-socket.ts'
import { eventually } from '../../../support/clients/clients.ts'
import { roomyAccounts } from '../../../support/servers/memory.ts'

/** Opens a websocket. @param serve gets the websocket of the server */
async function connected(serve: (socket: ClientSocket) => void): Promise<WebSocket> {
  const [metrics, logger] = [createMetrics(), createLog('silent')]
  const reports = new LimitReports({ clock: systemClock, log: logger, metrics })
  const gate = new SocketAcceptor(
    {
      messageBytesMax: 2 ** 20,
      sendBufferBytesMax: 2 ** 20,
      transferTimeoutMs: 60_000,
      memory: roomyAccounts(),
    },
    logger,
    metrics,
    reports,
  )
  const server = createServer()
  server.on('upgrade', (request, connection, head) =>
    gate.accept({ request, connection, head, address: '127.0.0.1' }, 'who', serve),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return client.once('close', () => server.close())
}

/** Returns the order in which a client receives the messages of one tick. */
async function heard(say: (socket: ClientSocket) => void): Promise<string[]> {
  const order: string[] = []
  const client = await connected(say)
  client.on('message', (data: Buffer) => order.push(`update ${data.at(-1)}`))
  client.on('ping', () => order.push('ping'))
  const [code] = (await once(client, 'close')) as [number]
  return [...order, `close ${code}`]
}

const update = (byte: number): Uint8Array => yWebsocket.update(Uint8Array.of(byte))

it('[SYNC-26] sends earlier messages before a ping or the close frame', async () => {
  const order = await heard((socket) => {
    socket.write(update(1))
    socket.write(update(2))
    socket.ping()
    socket.write(update(3))
    socket.close(4404, 'gone')
    socket.write(update(4))
  })
  expect(order).toEqual(['update 1', 'update 2', 'ping', 'update 3', 'close 4404'])
})

it('[SYNC-26] calls the callback when all messages are sent', async () => {
  const order = await heard((socket) => {
    socket.write(update(1))
    socket.whenDrained(() => {
      socket.write(update(2))
      setImmediate(() => socket.close(4404, 'gone'))
    })
  })
  expect(order).toEqual(['update 1', 'update 2', 'close 4404'])
})

const nothing = (): void => {}

it('[SYNC-30] answers the last one of many pings that arrive together, and each ping that arrives alone', async () => {
  const listener = { message: nothing, messageTooLarge: nothing, frames: nothing, incomplete: nothing }
  const client = await connected((socket) => socket.listen(listener))
  await once(client, 'open')
  const pongs: string[] = []
  client.on('pong', (content: Buffer) => pongs.push(content.toString()))
  const connection = Reflect.get(client, '_socket') as Socket
  connection.cork()
  for (let count = 1; count <= 1_000; count++) client.ping(`${count}`)
  connection.uncork()
  await eventually(() => pongs.at(-1) === '1000')
  expect(pongs.length).toBeLessThan(200)
  client.ping('alone')
  await eventually(() => pongs.at(-1) === 'alone')
  client.terminate()
})

it.each([
  ['control frames', (client: WebSocket): void => client.pong()],
  ['messages', (client: WebSocket): void => client.send('a')],
])(
  '[LOAD-4] after a pause, keeps the remaining %s of the same read until the socket is resumed',
  async (_what, send) => {
    const sent = 1_000
    /** Frames that the listener got before each time it resumed the socket. */
    const counts: number[] = []
    const client = await connected((socket) => {
      let paused = 0
      const received = (count: number): void => {
        if (paused === 0) {
          socket.pause()
          setImmediate(() => {
            counts.push(paused)
            paused = 0
            socket.resume()
          })
        }
        paused += count
      }
      socket.listen({
        message: () => received(1),
        frames: received,
        messageTooLarge: nothing,
        incomplete: nothing,
      })
    })
    await once(client, 'open')
    const connection = Reflect.get(client, '_socket') as Duplex
    connection.cork()
    for (let count = 0; count < sent; count += 1) send(client)
    connection.uncork()
    await vi.waitUntil(() => counts.reduce((sum, count) => sum + count, 0) === sent)
    expect(Math.max(...counts)).toBeLessThanOrEqual(10)
    client.close()
    await once(client, 'close')
  },
)
