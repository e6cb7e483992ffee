import { freemem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import { writeCells } from '../cells.ts'
import type { Running } from '../contender.ts'
import { during, serverMemory } from '../cpu.ts'
import { enter, join, textArrives } from '../entering.ts'
import { quantile, sum } from '../measure.ts'
import { over, p50, per, type Scale, type Scenario, waitMs } from '../scenario.ts'

const cellsPerUpdate = 5_000
/** Share of the written bytes. Servers encode a document with slightly fewer bytes than its updates. */
const enough = 0.95
/** Time in ms in which all clients must have the document. */
const joinMs = 120_000
const settleMs = 2_000
const document = 'large'

interface Arrived {
  /** Time in ms until the document was there. */
  readonly ms: number
  readonly parts: readonly Buffer[]
}

/** Connects a client, and waits for the document. @throws Error if the document does not arrive */
async function joined(server: Running, bytes: number, longestMs: number): Promise<Arrived> {
  const start = performance.now()
  const parts: Buffer[] = []
  let [received, ms] = [0, Number.NaN]
  const socket = await enter(server, document)
  socket.onMessage = (payload) => {
    const message = server.dialect.read(payload)
    if (message === null || message.kind === 'awareness') return
    parts.push(message.bytes)
    received += message.bytes.length
    if (received >= bytes * enough) ms = performance.now() - start
  }
  socket.send(server.dialect.ask(document))
  while (Number.isNaN(ms)) {
    if (performance.now() - start > longestMs)
      throw new Error('the server does not send the document in time')
    await sleep(5)
  }
  return { ms, parts }
}

const cellsIn = (updates: readonly Uint8Array[]): number => {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc.getMap('cells').size
}

/** Scenario in which many clients open the same large document at once, after a restart. */
export const largeJoin: Scenario<'p50' | 'all' | 'cpu' | 'memory'> = {
  key: 'join-large',
  name: '150 clients open a document of 20 MB at once',
  shows:
    'The cost of a large document, cold if the load generator has started the server. The load generator itself needs 3 GB of memory.',
  needs: 'store',
  figures: {
    p50,
    all: { label: 'ms until all have it', digits: 0, better: 'less' },
    cpu: { label: 'CPU ms a client', digits: 1, better: 'less' },
    memory: { label: 'MB more than before', digits: 0, better: 'less' },
  },
  async run(contender, data, scale: Scale) {
    const [clients, cells] = scale.size === 'full' ? [150, 430_000] : [5, 5_500]
    const { client, updates } = writeCells(cells, cellsPerUpdate)
    const bytes = sum(updates.map(({ length }) => length))
    if (freemem() < 2 * clients * bytes) throw new Error('this machine has too little free memory')
    let server = await contender.start(data)
    const writer = await join(server, document)
    for (const update of updates) writer.send(server.dialect.update(document, update))
    await textArrives(server, writer, document, { client, characters: cells })
    await sleep(waitMs(scale, settleMs))
    writer.end()
    if (contender.isOurs) {
      await server.stop()
      server = await contender.start(data)
    }
    const before = serverMemory(server)
    let arrived: readonly Arrived[] = []
    const usage = await during(server, async () => {
      const all = Array.from({ length: clients }, () => joined(server, bytes, waitMs(scale, joinMs)))
      arrived = await Promise.all(all)
    })
    const memory = per(over(serverMemory(server), before), 2 ** 20)
    await server.kill()
    const contents = arrived.map(({ parts }) => Buffer.concat(parts))
    for (const [index, { parts }] of arrived.entries())
      if ((index === 0 || !contents[index]?.equals(contents[0] as Buffer)) && cellsIn(parts) !== cells)
        throw new Error('a client has another document than the writer')
    const p50 = quantile(
      arrived.map(({ ms }) => ms),
      0.5,
    )
    const cpu = per(usage.microseconds, clients * 1000)
    return { figures: { p50, all: usage.seconds * 1000, cpu, memory }, usage }
  },
}
