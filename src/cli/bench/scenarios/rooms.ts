import { setTimeout as sleep } from 'node:timers/promises'
import { during } from '../cpu.ts'
import { quantile } from '../measure.ts'
import { enterInPairs } from '../pairs.ts'
import { p50, p99, per, perDelivered, type Scale, type Scenario } from '../scenario.ts'

/**
 * Returns a scenario with rooms of two typists each, who receive each other's keystrokes.
 * @param full number of rooms, and of keystrokes per second of all typists together
 */
const pairsOf = (
  key: string,
  name: string,
  shows: string,
  full: { readonly rooms: number; readonly perSecond: number },
): Scenario<'cpu' | 'p50' | 'p99'> => ({
  key,
  name,
  shows,
  needs: 'url',
  figures: { cpu: perDelivered, p50, p99 },
  async run(contender, data, { size, seconds }: Scale) {
    const rooms = size === 'full' ? full.rooms : Math.ceil(full.rooms / 50)
    const perSecond = size === 'full' ? full.perSecond : Math.min(full.perSecond, 200)
    const server = await contender.start(data)
    const pairs = await enterInPairs(server, rooms)
    await sleep(size === 'full' ? 1_000 : 100)
    const stop = pairs.type(perSecond)
    await sleep(seconds * 1000)
    const before = pairs.delivered()
    for (const watch of pairs.watches) watch.timing = true
    const usage = await during(server, () => sleep(seconds * 1000))
    const delivered = pairs.delivered() - before
    for (const watch of pairs.watches) watch.timing = false
    stop()
    await pairs.expectExact()
    await server.kill()
    const times = pairs.watches.flatMap(({ latencies }) => latencies)
    return {
      figures: {
        cpu: per(usage.microseconds, delivered),
        p50: quantile(times, 0.5),
        p99: quantile(times, 0.99),
      },
      usage,
    }
  },
})

export const oneHop = pairsOf(
  'hop',
  'one hop: two clients, 100 keystrokes/s',
  'The time from a keystroke to the other client on an idle server. A server that syncs to disk first cannot be faster than fsync.',
  { rooms: 1, perSecond: 100 },
)

export const manyRooms = pairsOf(
  'rooms',
  '500 rooms × 2 typists, 5,000/s',
  'Many small documents, in which nearly every update is a write of its own.',
  { rooms: 500, perSecond: 5_000 },
)
