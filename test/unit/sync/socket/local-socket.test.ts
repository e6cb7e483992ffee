import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock } from '../../../../src/core/base/clock.ts'
import { createLog } from '../../../../src/core/base/log.ts'
import { createMetrics } from '../../../../src/core/metrics/metrics.ts'
import { LimitReports } from '../../../../src/core/quota/limit-reports.ts'
import { yWebsocket } from '../../../../src/core/sync/protocols/y-websocket.ts'
import type { ClientSocket } from '../../../../src/core/sync/socket/client-socket.ts'
import { SocketAcceptor } from '../../../../src/core/sync/socket/local-socket.ts'
import { roomyAccounts } from '../../../support/servers/memory.ts'

/** Returns the order in which a client receives the messages of one tick. */
async function heard(say: (socket: ClientSocket) => void): Promise<string[]> {
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
    gate.accept({ request, connection, head, address: '127.0.0.1' }, 'who', say),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const order: string[] = []
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  client.on('message', (data: Buffer) => order.push(`update ${data.at(-1)}`))
  client.on('ping', () => order.push('ping'))
  const [code] = (await once(client, 'close')) as [number]
  server.close()
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
