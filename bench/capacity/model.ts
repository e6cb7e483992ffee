import { bucketCount } from '../../src/engine/buckets.ts'
import type { Inputs } from './inputs.ts'

/** Assumptions about users and machines. The sheet shows the texts in `is`. */
export const assumptions = {
  people: { value: 3, is: 'users on an open document, each on a different node' },
  editing: { value: 0.05, is: 'share of connections that edit at the same time' },
  rate: { value: 3, is: 'updates per second of a user who edits' },
  session: { value: 1_800, is: 'seconds that a connection lasts' },
  textBytes: { value: 10_000, is: 'bytes of the text of a stored document' },
  busy: { value: 0.5, is: 'used share of a core, and of the capacity of a database' },
  receiving: { value: 0.25, is: 'share of that for messages that a node does not need' },
  nodeBytes: { value: 3e9, is: 'bytes of memory of a node, which uses one core for its main thread' },
  copies: { value: 3, is: 'copies of the database: a primary and two standbys' },
  diskBytes: { value: 2e12, is: 'bytes of disk of one database server' },
  databaseCores: {
    value: 16,
    is: 'cores of a larger database server; its capacity is assumed to grow with the cores',
  },
} as const

const of = (name: keyof typeof assumptions): number => assumptions[name].value

export interface Need {
  readonly connections: number
  readonly openDocuments: number
  readonly updatesPerSecond: number
  readonly connectsPerSecond: number
  /** Number of clusters that would suffice for each limit. */
  readonly clustersFor: { readonly appends: number; readonly hearing: number }
  readonly clusters: number
  readonly clustersWithLargeDatabases: number
  /**
   * Number of nodes of one cluster that suffice for the CPU load. The next two members are also for one
   * cluster.
   */
  readonly nodesForCpu: number
  readonly nodesForMemory: number
  readonly nodes: number
  readonly busBytesIn: number
  readonly busBytesOut: number
  readonly busCores: number
  readonly wireBytes: number
  readonly walBytes: number
  /** Time in seconds until all connections of one node have reconnected to other nodes. */
  readonly secondsToTakeOver: number
  /** Share of the capacity of one cluster that is used. */
  readonly share: { readonly appends: number; readonly hearing: number }
}

const secondMicros = 1e6

/** Returns the CPU time that one connection costs all nodes together, in microseconds per second. */
const microsEach = ({ typed, idle }: Inputs): number =>
  of('editing') * of('rate') * (typed.cpu.writing + (of('people') - 1) * typed.cpu.reading) +
  idle.first.node / of('session')

/** Returns the maximum load of a node and of a cluster. */
export function limitsOf(inputs: Inputs) {
  const { appended, heard } = inputs
  const nodeConnections = Math.min(
    (secondMicros * of('busy')) / microsEach(inputs),
    of('nodeBytes') / inputs.idle.first.bytes,
  )
  // This assumes that each connection of a node has a different document.
  const told = 1 - (1 - 1 / bucketCount) ** nodeConnections
  return {
    nodeConnections,
    /** Share of all messages that a node receives, because its documents are in their buckets. */
    told,
    appends: appended.perSecond * of('busy'),
    appendsOfLarge: (of('databaseCores') * secondMicros * of('busy')) / appended.databaseCpu,
    heard: (secondMicros * of('busy') * of('receiving')) / (heard.node * told),
  }
}

export function needOf(inputs: Inputs, connections: number): Need {
  const limits = limitsOf(inputs)
  const updates = connections * of('editing') * of('rate')
  const clustersFor = { appends: updates / limits.appends, hearing: updates / limits.heard }
  const clusters = Math.ceil(Math.max(clustersFor.appends, clustersFor.hearing))
  return {
    connections,
    openDocuments: connections / of('people'),
    updatesPerSecond: updates,
    connectsPerSecond: connections / of('session'),
    clustersFor,
    clusters,
    clustersWithLargeDatabases: Math.ceil(Math.max(updates / limits.appendsOfLarge, clustersFor.hearing)),
    ...clusterOf(inputs, connections / clusters),
  }
}

/** Returns what one cluster with this number of connections needs. */
function clusterOf(inputs: Inputs, connections: number) {
  const { typed, idle, appended, heard } = inputs
  const limits = limitsOf(inputs)
  const people = of('people')
  const updates = connections * of('editing') * of('rate')
  // The users of a document are on different nodes, so each user makes a node open the document.
  const connectMicros = idle.first.node
  const hearing = updates * limits.told * heard.node
  const nodesForCpu = Math.ceil((connections * microsEach(inputs)) / (secondMicros * of('busy') - hearing))
  const bytes = connections * idle.first.bytes
  const nodesForMemory = Math.ceil(bytes / of('nodeBytes'))
  const needed = Math.max(nodesForCpu, nodesForMemory)
  const nodes = needed + 1
  // The nodes of the other users receive every message about a document. Each remaining node receives only
  // its share of the messages.
  const tellings = people - 1 + Math.max(0, nodes - people) * limits.told
  const busBytesIn = updates * (typed.told.inBytes / typed.told.inMessages)
  return {
    share: { appends: updates / limits.appends, hearing: updates / limits.heard },
    nodesForCpu,
    nodesForMemory,
    nodes,
    busBytesIn,
    busBytesOut: busBytesIn * tellings,
    busCores: (updates * tellings * heard.nats) / secondMicros,
    wireBytes: updates * (people - 1) * typed.wireBytes,
    walBytes: updates * appended.walBytes,
    secondsToTakeOver: ((connections / nodes) * connectMicros) / ((nodes - 1) * secondMicros * of('busy')),
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
