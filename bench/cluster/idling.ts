import { sleep } from '../../src/loadtest/typist.ts'
import { answer, enter, enterAll } from '../load/entering.ts'
import { cpuOfTree, residentBytes } from '../support/cpu.ts'
import { documentOf } from '../sync/connect.ts'
import type { Way } from './deployments.ts'
import type { Filled } from './opening.ts'

/**
 * Costs of an idle client. `first` is the first client of a document, and `further` is each further client of
 * it.
 */
export interface Idle {
  readonly first: Cost
  readonly further: Cost
}

export interface Cost {
  /** CPU time of the node per new client, in microseconds. `postgres` is the CPU time of the database. */
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
const fewMs = 1_000

/**
 * Measures the costs of idle clients.
 * @param rooms number of documents; one client opens each document, and then two further clients join it
 * @param rest `brief`: does not wait for garbage collection, so the memory figures are not valid
 */
export async function idle(
  way: Way,
  { data, schema }: Filled,
  rooms: number,
  rest: 'brief' | 'long' = 'long',
): Promise<Idle> {
  const deployment = await way.start(data, schema)
  const { reading: server } = deployment
  const settleMs = rest === 'brief' || rooms < manyRooms ? fewMs : manyMs
  const come = async (): Promise<Cost> => {
    const of = () => ({
      node: cpuOfTree(server.pid),
      postgres: deployment.used().postgres,
      bytes: residentBytes(server.pid),
    })
    const before = of()
    await enterAll(rooms, async (index) => {
      const socket = await enter(server, documentOf(index))
      await answer(server, socket, documentOf(index))
      socket.onMessage = () => {}
      return socket
    })
    await sleep(settleMs)
    const after = of()
    return {
      node: (after.node - before.node) / rooms,
      postgres: (after.postgres - before.postgres) / rooms,
      bytes: (after.bytes - before.bytes) / rooms,
    }
  }
  await sleep(settleMs)
  const first = await come()
  // The heap grows in steps. The mean of two measurements reduces the effect of these steps.
  const [second, third] = [await come(), await come()]
  await deployment.kill()
  const half = (one: number, other: number): number => (one + other) / 2
  return {
    first,
    further: {
      node: half(second.node, third.node),
      postgres: half(second.postgres, third.postgres),
      bytes: half(second.bytes, third.bytes),
    },
  }
}
