import { setTimeout as sleep } from 'node:timers/promises'
import { moveAll } from '../../src/cli/bench/mover.ts'
import { atRate } from '../../src/cli/bench/typist.ts'
import { sum } from '../support/report.ts'
import { temporaryDirectory } from '../support/server.ts'
import { clusterOf, type Way, waysOver } from './deployments.ts'
import { openGroup } from './open-groups.ts'
import type { Stores } from './stores.ts'
import { usageDuring } from './usage.ts'

/** One document with a user who edits and many who read, evenly spread over the nodes. */
export interface RoomLoad {
  readonly readers: number
  /** Edits per second. Afterwards, moves of one cursor per second. */
  readonly perSecond: number
  /** Duration of each measurement in seconds. The warm-up before it has the same duration. */
  readonly seconds: number
}

/** CPU time of all nodes for what one reader receives, in microseconds. */
export interface Delivery {
  readonly name: string
  readonly update: number
  readonly cursor: number
}

/** Time in ms in which the nodes do the work that follows the connects. */
const settleMs = 1_000

/** Measures the cost of a delivery with one node and with three. */
export async function measureRoom(stores: Stores, load: RoomLoad): Promise<readonly Delivery[]> {
  const [, single] = waysOver(stores)
  const deliveries: Delivery[] = []
  for (const way of [single, clusterOf(stores, 3)]) deliveries.push(await deliveriesOf(way, load))
  return deliveries
}

async function deliveriesOf(way: Way, { readers, perSecond, seconds }: RoomLoad): Promise<Delivery> {
  const deployment = await way.start(temporaryDirectory(), `room_${Date.now()}`)
  const { nodes } = deployment
  const servers = Array.from({ length: readers + 1 }, (_, index) => nodes[index % nodes.length])
  const group = await openGroup(servers as (typeof nodes)[number][], ['room'])
  await sleep(settleMs)
  const cost = async (stop: () => void, received: () => number): Promise<number> => {
    await sleep(seconds * 1000)
    const before = received()
    const usage = await usageDuring(deployment, seconds)
    const count = received() - before
    stop()
    await sleep(settleMs)
    return sum(usage.nodes) / count
  }
  const update = await cost(
    atRate(perSecond, (due) => {
      for (let index = 0; index < due; index++) group.typists[0]?.type()
    }),
    () => sum(group.watches.map(({ total }) => total)),
  )
  const { moving, watching } = group.movers()
  const cursor = await cost(moveAll(moving, perSecond), () => sum(watching.map(({ shown }) => shown)))
  await deployment.kill()
  return { name: way.name, update, cursor }
}
