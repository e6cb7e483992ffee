import { setTimeout as sleep } from 'node:timers/promises'
import { writeCells } from '../cells.ts'
import { during } from '../cpu.ts'
import { enterAs, enterRoom } from '../entering.ts'
import type { LoadSocket } from '../load-socket.ts'
import { quantile, sum } from '../measure.ts'
import { per, type Scale, type Scenario, waitMs } from '../scenario.ts'
import { atRate, expectExact, KeystrokeTracker, Typist, trackUpdates } from '../typist.ts'

/** Keystrokes per second of the person who types meanwhile. */
const perSecond = 20
/** Time in ms in which all agents must have the changes of the others. */
const arriveMs = 120_000
/** Share of the sent bytes. Servers that join updates send slightly fewer bytes. */
const enough = 0.99
const document = 'flushed'

/** Scenario in which many agents send a large batch to one document at the same moment, while a person types. */
export const agentsFlush: Scenario<'all' | 'p99' | 'cpu'> = {
  key: 'flush',
  name: '50 agents each flush 10,000 changes at once into a document in which a person types',
  shows: 'The time until all agents have all changes, and how long the keystrokes of the person wait.',
  needs: 'url',
  figures: {
    all: { label: 'ms until all have all', digits: 0, better: 'less' },
    p99: { label: 'keystroke p99 ms', digits: 1, better: 'less' },
    cpu: { label: 'CPU µs a delivered change', digits: 2, better: 'less' },
  },
  async run(contender, data, scale: Scale) {
    const [agents, changes] = scale.size === 'full' ? [50, 10_000] : [5, 500]
    const server = await contender.start(data)
    const { writer, reader } = await enterAs(server, document, ['writer', 'reader'])
    const sockets = await enterRoom(server, document, agents)
    const batches = sockets.map(() => writeCells(changes, changes))
    const frames = batches.map(({ updates }) => server.dialect.update(document, updates[0] as Uint8Array))
    const bytes = sum(frames.map(({ length }) => length))
    const before = sockets.map(({ receivedBytes }) => receivedBytes)
    const typist = new Typist(writer, server, document)
    const flushed = batches.map(({ client }) => ({ client, sent: changes, sentAt: [] }))
    const watch = new KeystrokeTracker([typist, ...flushed])
    trackUpdates(reader, server, watch)
    watch.timing = true
    const isBehind = ({ receivedBytes }: LoadSocket, index: number): boolean =>
      receivedBytes - (before[index] as number) < (bytes - (frames[index] as Buffer).length) * enough
    const deadline = performance.now() + waitMs(scale, arriveMs)
    const stop = atRate(perSecond, (due) => typist.type(due))
    const usage = await during(server, async () => {
      for (const [index, socket] of sockets.entries()) socket.send(frames[index] as Buffer)
      while (sockets.some(isBehind) && performance.now() < deadline) await sleep(5)
    })
    stop()
    const behind = sockets.filter(isBehind).length
    if (behind > 0) throw new Error(`the changes of others did not arrive at ${behind} of ${agents} agents`)
    await expectExact([watch])
    await server.kill()
    return {
      figures: {
        all: usage.seconds * 1000,
        p99: quantile(watch.latencies, 0.99),
        cpu: per(usage.microseconds, agents * agents * changes),
      },
      usage,
    }
  },
}
