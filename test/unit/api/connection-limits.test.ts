import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLog } from '../../../src/core/base/log.ts'
import { readConfig } from '../../../src/core/config/read-config.ts'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import { LimitReports } from '../../../src/core/quota/limit-reports.ts'
import { limitConnections } from '../../../src/rest/http/connection-limits.ts'
import { httpConnectionsOf } from '../../../src/server/limits-from-config.ts'
import { HeldClock } from '../../support/time/clock.ts'

const perAddressMax = 3

let server: ReturnType<typeof createServer>
let exceeded: string[]
const sockets: Duplex[] = []

beforeEach(async () => {
  exceeded = []
  server = createServer()
  limitConnections(server, { perAddressMax, inAllMax: 100, onExceeded: (limit) => void exceeded.push(limit) })
  server.on('upgrade', (_request, socket: Duplex) => {
    sockets.push(socket.on('error', () => {}))
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server.close()
})

/** Opens a connection that the server has accepted or closed when the promise resolves. */
async function open(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket.on('error', () => {}))
  await Promise.all([once(socket, 'connect'), once(server, 'connection')])
  return socket
}

async function openUpgraded(): Promise<void> {
  const socket = await open()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await once(socket, 'data')
}

it('[LIM-10] closes connections of an address beyond the limit immediately, and does not count websockets', async () => {
  for (let opened = 0; opened < 2 * perAddressMax; opened += 1) await openUpgraded()
  const idle: Socket[] = []
  for (let opened = 0; opened < perAddressMax; opened += 1) idle.push(await open())
  expect(exceeded).toEqual([])
  const refused = await open()
  if (!refused.destroyed) await once(refused.resume(), 'close')
  expect(exceeded).toEqual(['httpConnectionsPerAddress'])
  expect(idle.filter(({ destroyed }) => destroyed)).toEqual([])
})

it.each([
  ['at least 5,000 connections', '10', '0', 5000],
  ['as many connections as websockets', '20000', '0', 20_000],
  ['any number of connections behind a reverse proxy', '10', '1', 0],
])('[LIM-10] permits an address %s', (_name, maxConnectionsPerAddress, trustProxy, expected) => {
  const { config } = readConfig({
    flags: { maxConnectionsPerAddress, trustProxy },
    environment: {},
    file: null,
  })
  const clock = new HeldClock()
  const reports = new LimitReports({ clock, log: createLog('silent'), metrics: createMetrics() })
  expect(httpConnectionsOf({ config, clock, reports }).perAddressMax).toBe(expected)
})
