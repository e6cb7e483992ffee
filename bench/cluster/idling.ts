import { setTimeout as sleep } from 'node:timers/promises'
import type { Running } from '../../src/cli/bench/contender.ts'
import { cpuOfTree, residentBytes } from '../../src/cli/bench/cpu.ts'
import { answer, documentOf, enter, enterAll } from '../../src/cli/bench/entering.ts'
import type { Way } from './deployments.ts'
import type { Filled } from './opening.ts'

/** Costs of a client that connects to a document and then does nothing. */
export interface Idle {
  /** The first client of a document that no node has open. */
  readonly first: Cost
  /** The first client of a node for a document that another node has open. `node` is the sum of both nodes. */
  readonly elsewhere: Omit<Cost, 'bytes'>
  /** A further client of a node for a document that the node has open. */
  readonly further: Cost
}

export interface Cost {
  /** CPU time of the nodes per new client, in microseconds. `postgres` is the CPU time of the database. */
  readonly node: number
  readonly postgres: number
  /** Memory of the node per new client, in bytes. */
  readonly bytes: number
}

/**
 * Minimum number of rooms for a meaningful measurement of memory, and time in ms after which an idle heap has
 * released its garbage.
 */
const [manyRooms, manyMs] = [1_000, 15_000]
/** Time in ms in which nodes do the work that follows the opening of many documents, and of a few documents. */
const [someMs, fewMs] = [1_000, 200]
const fewRooms = 100

/** Duration in ms in which the bench measures the CPU time of open documents without new clients. */
const quietMs = 4_000

/**
 * Measures the costs of idle clients. The CPU time that open documents need without new clients does not
 * count.
 * @param rooms number of documents; one client opens each document, then two further clients of the same node
 * join it, and then a client of another node
 * @param rest `brief`: does not wait for garbage collection, so the memory figures are not valid
 */
export async function idle(
  way: Way,
  { data, schema }: Filled,
  rooms: number,
  rest: 'brief' | 'long' = 'long',
): Promise<Idle> {
  const deployment = await way.start(data, schema)
  const { reading, writing, nodes } = deployment
  const isSmall = rooms < fewRooms
  const workMs = isSmall ? fewMs : someMs
  const settleMs = rest === 'brief' || rooms < manyRooms ? workMs : manyMs
  const used = () => ({
    at: performance.now(),
    node: nodes.reduce((sum, { pid }) => sum + cpuOfTree(pid), 0),
    postgres: deployment.used().postgres,
  })
  const come = async (server: Running): Promise<Cost> => {
    const quiet = used()
    await sleep(isSmall ? fewMs : quietMs)
    const [bytes, before] = [residentBytes(server.pid), used()]
    await enterAll(rooms, async (index) => {
      const socket = await enter(server, documentOf(index))
      await answer(server, socket, documentOf(index))
      socket.onMessage = () => {}
      return socket
    })
    await sleep(workMs)
    const after = used()
    await sleep(settleMs)
    const of = (part: 'node' | 'postgres'): number => {
      const idlePerMs = (before[part] - quiet[part]) / (before.at - quiet.at)
      return (after[part] - before[part] - idlePerMs * (after.at - before.at)) / rooms
    }
    return {
      node: of('node'),
      postgres: of('postgres'),
      bytes: (residentBytes(server.pid) - bytes) / rooms,
    }
  }
  await sleep(settleMs)
  const first = await come(reading)
  // The heap grows in steps. The mean of two measurements reduces the effect of these steps.
  const [second, third] = [await come(reading), await come(reading)]
  const elsewhere = await come(writing)
  await deployment.kill()
  const half = (one: number, other: number): number => (one + other) / 2
  return {
    first,
    elsewhere,
    further: {
      node: half(second.node, third.node),
      postgres: half(second.postgres, third.postgres),
      bytes: half(second.bytes, third.bytes),
    },
  }
}
