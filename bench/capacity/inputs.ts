import { characters } from '../../src/cli/bench/entering.ts'
import { type Appended, appendTo } from '../cluster/appending.ts'
import { clusterOf } from '../cluster/deployments.ts'
import { type Idle, idle } from '../cluster/idling.ts'
import { fill } from '../cluster/opening.ts'
import { type Stores, startStores } from '../cluster/stores.ts'
import { measureUnits, type UnitCosts, type UnitLoad } from '../cluster/unit-costs.ts'
import { mean, progress } from '../support/report.ts'

/** Values that were measured with PostgreSQL and all nodes on one machine. */
export interface Inputs {
  readonly appended: Appended
  readonly idle: Idle
  /** Size of the tables and indexes that a document needs in addition to its text, in bytes. */
  readonly documentBytes: number
  readonly few: ClusterCosts
  readonly many: ClusterCosts
}

/** Values that were measured in the same way with few and with many nodes. */
export interface ClusterCosts {
  readonly nodes: number
  readonly units: UnitCosts
  readonly idle: Idle
}

export interface Size {
  readonly appending: { readonly documents: number; readonly inFlight: number; readonly seconds: number }
  /** Number of documents that are opened. `documents` is the number of stored documents. */
  readonly rooms: number
  readonly documents: number
  /** Number of documents that are opened in the comparison of few and many nodes. */
  readonly roomsCompared: number
  readonly units: UnitLoad
  /** Number of times that everything is measured. The values are means. */
  readonly rounds: number
}

/** Numbers of nodes that are compared. */
const [few, many] = [2, 6]

/** Measures everything `rounds` times. */
export async function measure(size: Size): Promise<Inputs> {
  const stores = await startStores()
  const bar = progress('capacity')
  const all: Inputs[] = []
  for (let round = 0; round < size.rounds; round++)
    all.push(await measureOnce(stores, size, (share) => bar.at((round + share) / size.rounds)))
  bar.end()
  return meanOf(all)
}

async function measureOnce(stores: Stores, size: Size, at: (share: number) => void): Promise<Inputs> {
  const cluster = clusterOf(stores, few)
  const { postgres: appended } = await appendTo(stores, size.appending)
  at(0.05)
  const filled = await fill(stores, size.documents)
  at(0.2)
  const idled = await idle(cluster, filled, size.rooms)
  at(0.4)
  const fewCosts = await costsOf(stores, few, size)
  at(0.6)
  return {
    appended,
    idle: idled,
    documentBytes: filled.bytesEach - characters,
    few: fewCosts,
    many: await costsOf(stores, many, size),
  }
}

async function costsOf(stores: Stores, nodes: number, size: Size): Promise<ClusterCosts> {
  return {
    nodes,
    idle: await idle(
      clusterOf(stores, nodes),
      await fill(stores, size.roomsCompared),
      size.roomsCompared,
      'brief',
    ),
    units: await measureUnits(stores, nodes, size.units),
  }
}

/** Returns an object with the means of all numbers in objects of the same shape. */
function meanOf<Of extends object>(all: readonly Of[]): Of {
  const [first] = all as [Of]
  return Object.fromEntries(
    Object.entries(first).map(([name, value]) => {
      const values = all.map((each) => (each as Record<string, unknown>)[name])
      return [name, typeof value === 'number' ? mean(values as number[]) : meanOf(values as object[])]
    }),
  ) as Of
}
