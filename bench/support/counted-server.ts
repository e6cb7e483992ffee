/** A server that counts its use of resources. It sends the counts when its parent asks for them. */
import { createHook } from 'node:async_hooks'
import { Level } from 'level'
import { createServer, dataOf } from '../../src/server/library/index.ts'
import type { Counts } from '../counts.ts'

const counts = { promises: 0, buffers: 0, operations: 0, batches: 0, syncs: 0, reads: 0 }

type Method = (this: unknown, ...values: never[]) => unknown

/** Calls `noted` with the arguments of each call of a method. */
function watch(target: object, name: string, noted: (...values: never[]) => void): void {
  const holder = target as Record<string, Method>
  const method = holder[name] as Method
  holder[name] = function watched(...values) {
    noted(...values)
    return method.apply(this, values)
  }
}

createHook({ init: (_, type) => void (type === 'PROMISE' && counts.promises++) }).enable()
for (const name of ['from', 'alloc', 'allocUnsafe']) watch(Buffer, name, () => counts.buffers++)

const database = Level.prototype as unknown as { batch: () => object }
const open = database.batch
database.batch = function batch() {
  const opened = open.call(this)
  for (const name of ['put', 'del']) watch(opened, name, () => counts.operations++)
  watch(opened, 'write', ({ sync }: { sync: boolean }) => {
    counts.batches++
    if (sync) counts.syncs++
  })
  return opened
}
watch(Level.prototype, 'getMany', (keys: readonly unknown[]) => {
  counts.reads += keys.length
})
watch(Level.prototype, 'iterator', () => counts.reads++)

const server = await createServer({
  dataDir: process.argv[2] ?? '',
  log: false,
  callsPerKey: 0,
  newDocumentsPerWorkspace: 0,
  connectsPerAddress: 0,
  maxConnectionsPerAddress: 20_000,
  receiveBytesPerWorkspace: 0,
})
const { port } = await server.listen({ port: 0, host: '127.0.0.1' })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  const { heapUsed } = process.memoryUsage()
  process.send?.({ ...counts, heapBytes: heapUsed, cpuUs: user + system } satisfies Counts)
})
const urlOf = async (userId: string): Promise<string> => {
  const properties = { name: userId, email: '' }
  const { token } = dataOf(await server.api.auth.generateToken({ userId, userProperties: properties }))
  return `ws://127.0.0.1:${port}/sync/counts/ROOM/main?token=${token}`
}
process.send?.([await urlOf('ann'), await urlOf('bob')])
