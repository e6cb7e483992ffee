import { Socket } from 'node:net'
import type { WorkerSettings } from './open-record.ts'
import { SocketHost } from './socket-host.ts'

/** Where the main process has put the link. */
const linkFile = 3

/** What the operator sends to all processes at once is for the main process: it says when to end. */
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const settings = JSON.parse(process.argv[2] ?? '') as WorkerSettings
const link = new Socket({ fd: linkFile, readable: true, writable: true })
const host = new SocketHost(link, settings)

// However the main process ends, the link does.
link.on('error', () => {}).once('close', () => process.exit(0))
process.once('disconnect', () => process.exit(0))
process.on('message', (message, connection) => {
  const { id } = message as { id: number }
  host.arrive(id, connection instanceof Socket ? connection : null)
  process.send?.({ id })
})
host.start()
