import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openConnectionsMax } from '../../../src/core/quota/open-files.ts'
import { RawClient, typed } from '../../support/clients/clients.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'

let directory: string
let server: ServerProcess
const sockets: Socket[] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weft-files-'))
  server = await startProcess(directory, {}, undefined, 600)
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await server.end('SIGTERM')
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

async function tcp(): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

it('[LIM-16] closes connections before the store runs out of file descriptors', async () => {
  const writer = await RawClient.connect(`${server.wsUrl}/sync/acme/plan/main?token=${await server.token()}`)
  await writer.roundTrip()
  const open = await Promise.all(Array.from({ length: 700 }, tcp))
  await expect.poll(() => open.filter(({ destroyed }) => destroyed).length).toBeGreaterThan(390)
  // A thread reads files at its start, and the store creates files as it grows.
  const large = 'x'.repeat(1_000_000)
  for (const client of [1, 2, 3, 4, 5, 6]) writer.sendUpdate(typed(large, client))
  await writer.roundTrip()
  for (const socket of open) socket.destroy()
  const asked = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
  await expect.poll(async () => (await server.post('/v2/crdt/get', asked)).status).toBe(200)
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  expect(metrics).toMatch(/weft_limit_hits_total\{limit="openFiles"\} [1-9]/)
  writer.end()
})

it('[LIM-16] uses half of the file descriptors for connections if there are few, or all except a fixed reserve if there are many', () => {
  expect([600, 2_400, 20_000, Number.POSITIVE_INFINITY].map((files) => openConnectionsMax(files))).toEqual([
    300,
    1_200,
    18_800,
    Number.POSITIVE_INFINITY,
  ])
  expect(openConnectionsMax(null)).toBe(Number.POSITIVE_INFINITY)
})
