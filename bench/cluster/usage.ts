import { setTimeout as sleep } from 'node:timers/promises'
import { cpuOfTree } from '../../src/cli/bench/cpu.ts'
import type { Deployment } from './deployments.ts'

/** Resources that the processes of a cluster have used. All CPU times are in microseconds. */
export interface Usage {
  /** Time in which they were used. */
  readonly seconds: number
  /** CPU time of each node. */
  readonly nodes: readonly number[]
  readonly postgres: number
}

/** Returns the resources that a cluster uses in a time of `seconds` seconds. */
export async function usageDuring(deployment: Deployment, seconds: number): Promise<Usage> {
  return usageOf(deployment, () => sleep(seconds * 1000))
}

/** Returns the resources that a cluster uses until `act` has resolved. */
export async function usageOf(deployment: Deployment, act: () => Promise<unknown>): Promise<Usage> {
  const before = usageSoFar(deployment)
  await act()
  const after = usageSoFar(deployment)
  return {
    seconds: after.seconds - before.seconds,
    nodes: after.nodes.map((cpu, node) => cpu - (before.nodes[node] ?? 0)),
    postgres: after.postgres - before.postgres,
  }
}

function usageSoFar(deployment: Deployment): Usage {
  return {
    seconds: performance.now() / 1000,
    nodes: deployment.nodes.map(({ pid }) => cpuOfTree(pid)),
    postgres: deployment.used().postgres,
  }
}
