import { setTimeout as sleep } from 'node:timers/promises'
import { during, serverMemory } from '../cpu.ts'
import { enterAll, join } from '../entering.ts'
import { over, per, type Scale, type Scenario, waitMs } from '../scenario.ts'

/** Clients that connect to each document. */
const perRoom = 10
/** Number of times that all clients leave and others come, after the memory of the first ones has been measured. */
const turns = 4

/**
 * Scenario with connections without traffic. Then the clients leave, and others come, several times. The
 * memory that remains shows whether closed connections leave something in the server.
 */
export const idleConnections: Scenario<'memory' | 'cpu' | 'closed' | 'left'> = {
  key: 'idle',
  name: '4,000 idle connections, ten to a room, and 16,000 that come and leave',
  shows:
    'The memory and the CPU time of a connection without traffic. Memory is that of the process, so the memory that a closed connection leaves is exact to about 1 KB.',
  needs: 'url',
  figures: {
    memory: { label: 'KB a connection', digits: 1, better: 'less' },
    cpu: { label: 'CPU µs a connection and second', digits: 2, better: 'less' },
    closed: { label: 'closed by the server', digits: 0, better: 'less' },
    left: { label: 'KB left by a closed one', digits: 2, better: 'less' },
  },
  async run(contender, data, scale: Scale) {
    const count = scale.size === 'full' ? 4_000 : 100
    const settle = waitMs(scale, 2_000)
    const server = await contender.start(data)
    const come = () => enterAll(count, (index) => join(server, `idle-${Math.floor(index / perRoom)}`))
    const empty = serverMemory(server)
    const sockets = await come()
    await sleep(settle)
    const open = serverMemory(server)
    const usage = await during(server, () => sleep(scale.seconds * 1000))
    const closed = sockets.filter(({ closeCode }) => closeCode !== null).length
    for (const socket of sockets) socket.end()
    await sleep(settle)
    // The first turn fills the free lists of the allocator and compiles the code, so it does not count.
    const memories: (number | undefined)[] = []
    for (let turn = 0; turn <= turns; turn++) {
      for (const socket of await come()) socket.end()
      await sleep(settle)
      memories.push(serverMemory(server))
    }
    await server.kill()
    const left = per(over(memories.at(-1), memories[0]), turns * count)
    return {
      figures: {
        memory: per(per(over(open, empty), count), 1024),
        cpu: per(usage.microseconds, count * usage.seconds),
        closed,
        left: left === undefined ? undefined : Math.max(0, left / 1024),
      },
      usage,
    }
  },
}
