import { sum } from '../support/report.ts'
import type { Inputs } from './inputs.ts'

/** Assumptions about users and machines. The sheet shows the texts in `is`. */
export const assumptions = {
  people: { value: 3, is: 'users on an open document, each on a different node' },
  editing: { value: 0.05, is: 'share of connections that edit at the same time' },
  rate: { value: 3, is: 'updates per second of a user who edits' },
  renewal: {
    value: 15,
    is: 'seconds after which a stock client sends its cursor again, if it has not moved',
  },
  writes: { value: 0.002, is: 'small texts that backends write by REST, per second and connection' },
  pages: { value: 0.002, is: 'pages of 100 documents that backends read by REST, per second and connection' },
  session: { value: 1_800, is: 'seconds that a connection lasts' },
  textBytes: { value: 10_000, is: 'bytes of the text of a stored document' },
  busy: { value: 0.5, is: 'used share of the cores of a node and of a database server' },
  databaseCores: {
    value: 2,
    is: 'cores of a database server, as in the measurements. With more cores, fewer clusters are necessary, but that was not measured',
  },
  nodeBytes: { value: 3e9, is: 'bytes of memory of a node, which uses one core for its main thread' },
  copies: { value: 3, is: 'copies of the database: a primary and two standbys' },
  diskBytes: { value: 2e12, is: 'bytes of disk of one database server' },
} as const

const of = (name: keyof typeof assumptions): number => assumptions[name].value

export interface Need {
  readonly connections: number
  readonly openDocuments: number
  readonly updatesPerSecond: number
  readonly connectsPerSecond: number
  readonly cursorsPerSecond: number
  /** Number of clusters that would suffice for the databases. */
  readonly clustersForDatabase: number
  readonly clusters: number
  /**
   * Number of nodes of one cluster that suffice for the CPU load. The members below are also for one cluster.
   */
  readonly nodesForCpu: number
  readonly nodesForMemory: number
  readonly nodes: number
  readonly databaseCores: number
  readonly wireBytes: number
  readonly walBytes: number
  /** Time in seconds until all connections of one node have reconnected to other nodes. */
  readonly secondsToTakeOver: number
  /** Share of the capacity of the database of one cluster that is used. */
  readonly databaseShare: number
}

const secondMicros = 1e6

/** Returns the costs of a connect in microseconds of CPU time. */
export function costsOf(inputs: Inputs) {
  const { many } = inputs
  const meanOpen = (part: 'node' | 'postgres'): number =>
    (many.idle.first[part] + (of('people') - 1) * many.idle.elsewhere[part]) / of('people')
  return {
    /** Cost of a connect. One of the users of a document opens it, and the others open it on further nodes. */
    open: meanOpen('node'),
    openDatabase: meanOpen('postgres'),
  }
}

/** Returns rates per second and connection. */
const rates = () => {
  const updates = of('editing') * of('rate')
  const cursors = updates + 1 / of('renewal')
  return {
    updates,
    cursors,
    connects: 1 / of('session'),
    writes: of('writes'),
    pages: of('pages'),
  }
}

/** Returns the CPU time that one connection costs all nodes together, in microseconds per second, by cause. */
export function microsOf(inputs: Inputs) {
  const { units } = inputs.many
  const cost = costsOf(inputs)
  const rate = rates()
  const others = of('people') - 1
  return {
    updates: rate.updates * (units.update.writing + others * units.update.reading),
    cursors: rate.cursors * (units.cursor.moving + others * units.cursor.showing),
    idle: units.idle.node,
    connects: rate.connects * cost.open,
    rest: rate.writes * units.write.node + rate.pages * units.page.node,
  }
}

const microsEach = (inputs: Inputs): number => sum(Object.values(microsOf(inputs)))

/** Returns the CPU time of a node for work on connections and messages, in microseconds per second. */
const nodeMicros = ({ many }: Inputs): number => secondMicros * of('busy') - many.units.empty.node

/** Returns the maximum number of connections of a node. */
export const nodeConnectionsOf = (inputs: Inputs): number =>
  Math.min(nodeMicros(inputs) / microsEach(inputs), of('nodeBytes') / inputs.idle.first.bytes)

/**
 * Returns the CPU time that one connection costs PostgreSQL, in microseconds per second, with its share of
 * the cost of its node.
 */
function databaseMicrosEach(inputs: Inputs): number {
  const { units } = inputs.many
  const cost = costsOf(inputs)
  const rate = rates()
  return (
    rate.updates * units.update.postgres +
    Math.max(0, units.idle.postgres) +
    rate.connects * cost.openDatabase +
    rate.writes * units.write.postgres +
    rate.pages * units.page.postgres +
    units.empty.postgres / nodeConnectionsOf(inputs)
  )
}

export function needOf(inputs: Inputs, connections: number): Need {
  const rate = rates()
  const clustersForDatabase =
    (connections * databaseMicrosEach(inputs)) / (secondMicros * of('busy') * of('databaseCores'))
  const clusters = Math.ceil(clustersForDatabase)
  return {
    connections,
    openDocuments: connections / of('people'),
    updatesPerSecond: connections * rate.updates,
    connectsPerSecond: connections * rate.connects,
    cursorsPerSecond: connections * rate.cursors,
    clustersForDatabase,
    clusters,
    databaseShare: clustersForDatabase / clusters,
    ...clusterOf(inputs, connections / clusters),
  }
}

/** Returns what one cluster with this number of connections needs. */
function clusterOf(inputs: Inputs, connections: number) {
  const { idle, appended, many } = inputs
  const { units } = many
  const cost = costsOf(inputs)
  const rate = rates()
  const people = of('people')
  const nodesForCpu = Math.ceil((connections * microsEach(inputs)) / nodeMicros(inputs))
  const nodesForMemory = Math.ceil((connections * idle.first.bytes) / of('nodeBytes'))
  const nodes = Math.max(nodesForCpu, nodesForMemory) + 1
  return {
    nodesForCpu,
    nodesForMemory,
    nodes,
    databaseCores: (connections * databaseMicrosEach(inputs)) / secondMicros,
    wireBytes:
      connections * (people - 1) * (rate.updates * units.update.frame + rate.cursors * units.cursor.frame),
    walBytes: connections * rate.updates * appended.walBytes,
    secondsToTakeOver: ((connections / nodes) * cost.open) / ((nodes - 1) * secondMicros * of('busy')),
  }
}

export interface Stored {
  readonly documents: number
  readonly bytes: number
  readonly allBytes: number
  readonly clusters: number
}

export function storedOf({ documentBytes }: Inputs, documents: number): Stored {
  const bytes = documents * (of('textBytes') + documentBytes)
  return {
    documents,
    bytes,
    allBytes: bytes * of('copies'),
    clusters: Math.ceil(bytes / (of('diskBytes') * of('busy'))),
  }
}
