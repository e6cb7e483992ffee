import { setTimeout as sleep } from 'node:timers/promises'
import { cpuOfTree } from '../support/cpu.ts'
import type { Deployment } from './deployments.ts'
import type { Stores, Told } from './stores.ts'

/** Resources that the processes of a cluster have used. All CPU times are in microseconds. */
export interface Usage {
  /** Time in which they were used. */
  readonly seconds: number
  /** CPU time of each node. */
  readonly nodes: readonly number[]
  readonly postgres: number
  readonly told: Told
  /** For each node, the number of messages that NATS has sent to it, by subject. */
  readonly received: readonly ReadonlyMap<string, number>[]
}

/** Returns the resources that a cluster uses in a time of `seconds` seconds. */
export async function usageDuring(stores: Stores, deployment: Deployment, seconds: number): Promise<Usage> {
  return usageOf(stores, deployment, () => sleep(seconds * 1000))
}

/** Returns the resources that a cluster uses until `act` has resolved. */
export async function usageOf(
  stores: Stores,
  deployment: Deployment,
  act: () => Promise<unknown>,
): Promise<Usage> {
  const before = await usageSoFar(stores, deployment)
  await act()
  const after = await usageSoFar(stores, deployment)
  return {
    seconds: after.seconds - before.seconds,
    nodes: after.nodes.map((cpu, node) => cpu - (before.nodes[node] ?? 0)),
    postgres: after.postgres - before.postgres,
    told: {
      inMessages: after.told.inMessages - before.told.inMessages,
      inBytes: after.told.inBytes - before.told.inBytes,
      outMessages: after.told.outMessages - before.told.outMessages,
      outBytes: after.told.outBytes - before.told.outBytes,
    },
    received: after.received.map((subjects, node) => {
      const had = before.received[node]
      return new Map([...subjects].map(([subject, count]) => [subject, count - (had?.get(subject) ?? 0)]))
    }),
  }
}

async function usageSoFar(stores: Stores, deployment: Deployment): Promise<Usage> {
  const { postgres } = deployment.used()
  const received = await stores.natsReceived()
  if (received.length !== deployment.nodes.length)
    throw new Error(`NATS has ${received.length} connections of ${deployment.nodes.length} nodes`)
  return {
    seconds: performance.now() / 1000,
    nodes: deployment.nodes.map(({ pid }) => cpuOfTree(pid)),
    postgres,
    told: await stores.natsTold(),
    received,
  }
}
