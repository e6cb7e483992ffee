import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender } from '../contender.ts'
import { cpuOfTree } from '../cpu.ts'
import { quantile } from '../measure.ts'
import { enterInPairs } from '../pairs.ts'
import { p99, perDelivered, type Scale, type Scenario } from '../scenario.ts'

const full = { rooms: 500, perSecond: 5_000 }
const smoke = { rooms: 10, perSecond: 200 }

/** Scenario with many rooms. Each room has two typists, who receive each other's keystrokes. */
export const manyRooms: Scenario<'cpu' | 'p99'> = {
  name: `${full.rooms} rooms × 2 typists, ${full.perSecond}/s`,
  needsStore: false,
  figures: { cpu: perDelivered, p99 },
  async run(contender: Contender, data, { size, seconds }: Scale) {
    const { rooms, perSecond } = size === 'full' ? full : smoke
    const server = await contender.start(data)
    const pairs = await enterInPairs(server, rooms)
    await sleep(1_000)
    const stop = pairs.type(perSecond)
    await sleep(seconds * 1000)
    const [before, cpu] = [pairs.delivered(), cpuOfTree(server.pid)]
    for (const watch of pairs.watches) watch.timing = true
    await sleep(seconds * 1000)
    const [delivered, microseconds] = [pairs.delivered() - before, cpuOfTree(server.pid) - cpu]
    stop()
    await server.kill()
    return {
      cpu: microseconds / delivered,
      p99: quantile(
        pairs.watches.flatMap(({ latencies }) => latencies),
        0.99,
      ),
    }
  },
}
