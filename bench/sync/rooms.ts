import type { Contender } from '../load/contenders.ts'
import { enter, enterAll } from '../load/entering.ts'
import { p99, perDelivered, type Scale, type Scenario } from '../load/scenario.ts'
import { paced, sleep, Typist, Watch, watched } from '../load/typing.ts'
import { cpuOfTree } from '../support/cpu.ts'
import { quantile } from '../support/report.ts'

const full = { rooms: 500, perSecond: 5_000 }
const smoke = { rooms: 10, perSecond: 200 }

/** Rooms with two typists each, who see one another. */
export const manyRooms: Scenario<'cpu' | 'p99'> = {
  name: `${full.rooms} rooms × 2 typists, ${full.perSecond}/s`,
  needsStore: false,
  figures: { cpu: perDelivered, p99 },
  async run(contender: Contender, data, { size, seconds }: Scale) {
    const { rooms, perSecond } = size === 'full' ? full : smoke
    const server = await contender.start(data)
    const documentOf = (index: number): string => `room-${index % rooms}`
    const sockets = await enterAll(rooms * 2, (index) => enter(server, documentOf(index)))
    const typists = sockets.map((socket, index) => new Typist(socket, server, documentOf(index)))
    const watches = typists.map(
      (_, index) => new Watch([typists[(index + rooms) % typists.length] as Typist]),
    )
    for (const [index, watch] of watches.entries())
      watched(sockets[index] as (typeof sockets)[number], server, watch)
    await sleep(1_000)
    let next = 0
    const stop = paced(perSecond, (due) => {
      for (let index = 0; index < due; index++) typists[next++ % typists.length]?.type()
    })
    await sleep(seconds * 1000)
    const total = (): number => watches.reduce((sum, watch) => sum + watch.total, 0)
    const [before, cpu] = [total(), cpuOfTree(server.pid)]
    for (const watch of watches) watch.timing = true
    await sleep(seconds * 1000)
    const [delivered, microseconds] = [total() - before, cpuOfTree(server.pid) - cpu]
    stop()
    await server.kill()
    return {
      cpu: microseconds / delivered,
      p99: quantile(
        watches.flatMap(({ latencies }) => latencies),
        0.99,
      ),
    }
  },
}
