import { cpus, totalmem } from 'node:os'
import { bucketCount } from '../../src/engine/buckets.ts'
import { round, thousands } from '../support/report.ts'
import type { Inputs, Size } from './inputs.ts'
import { assumptions, limitsOf, type Need, needOf, type Stored, storedOf } from './model.ts'

const connectionSteps = [1e3, 1e4, 1e5]
const documentSteps = [1e5, 1e6, 1e7]

interface Line<Of> {
  readonly name: string
  readonly formula: string
  readonly value: (of: Of) => string
}

const megabits = (bytes: number): string => round((bytes * 8) / 1e6, 1)
const percents = (share: number): string => `${round(share * 100, 0)} %`

const needs: readonly Line<Need>[] = [
  { name: 'documents open', formula: 'connections / people', value: (of) => thousands(of.openDocuments) },
  {
    name: 'updates per second',
    formula: 'connections × editing × rate',
    value: (of) => thousands(of.updatesPerSecond),
  },
  {
    name: 'connects per second',
    formula: 'connections / session',
    value: (of) => thousands(of.connectsPerSecond),
  },
  {
    name: 'clusters for appends',
    formula: 'updates / (appends × busy)',
    value: (of) => round(of.clustersFor.appends),
  },
  {
    name: 'clusters for messages to nodes that do not need them',
    formula: 'updates × share × receive / (1 s × busy × receiving)',
    value: (of) => round(of.clustersFor.hearing),
  },
  { name: '**clusters**', formula: 'the larger, rounded up', value: (of) => `**${thousands(of.clusters)}**` },
  {
    name: 'the same with larger databases',
    formula: 'with appends × busy = databaseCores × busy × 1 s / database',
    value: (of) => thousands(of.clustersWithLargeDatabases),
  },
  {
    name: '**first limit reached**',
    formula: 'the larger of the two, and the share of it that one of these clusters uses',
    value: ({ share }) =>
      share.appends > share.hearing
        ? `appends, ${percents(share.appends)}`
        : `unneeded messages, ${percents(share.hearing)}`,
  },
  {
    name: 'per cluster: nodes for CPU',
    formula:
      '(updates × (write + (people − 1) × read) + connects × open) / (1 s × busy − updates × share × receive)',
    value: (of) => thousands(of.nodesForCpu),
  },
  {
    name: 'nodes for memory',
    formula: 'connections × connection / nodeBytes',
    value: (of) => thousands(of.nodesForMemory),
  },
  { name: 'nodes', formula: 'the larger, plus one that may fail', value: (of) => thousands(of.nodes) },
  {
    name: '**nodes of all clusters**',
    formula: 'nodes × clusters',
    value: (of) => `**${thousands(of.nodes * of.clusters)}**`,
  },
  { name: 'Mbit/s into NATS', formula: 'updates × message', value: (of) => megabits(of.busBytesIn) },
  {
    name: 'Mbit/s out of NATS',
    formula: 'the same × (people − 1 + (nodes − people) × share)',
    value: (of) => megabits(of.busBytesOut),
  },
  {
    name: 'cores of NATS',
    formula: 'updates × (people − 1 + (nodes − people) × share) × deliver',
    value: (of) => round(of.busCores),
  },
  {
    name: 'Mbit/s to clients, without TCP and TLS overhead',
    formula: 'updates × (people − 1) × frame',
    value: (of) => megabits(of.wireBytes),
  },
  {
    name: 'Mbit/s of the log of the database, to each standby',
    formula: 'updates × log',
    value: (of) => megabits(of.walBytes),
  },
  {
    name: 'GB of that log per day',
    formula: 'the same × 86,400 s',
    value: (of) => thousands((of.walBytes * 86_400) / 1e9),
  },
  {
    name: 'seconds until all clients of a failed node are connected to other nodes',
    formula: 'connections / nodes × open / ((nodes − 1) × busy)',
    value: (of) => round(of.secondsToTakeOver, 1),
  },
]

const stores: readonly Line<Stored>[] = [
  {
    name: 'GB',
    formula: 'documents × (textBytes + document)',
    value: (of) => thousands(of.bytes / 1e9),
  },
  { name: 'GB of all copies', formula: 'the same × copies', value: (of) => thousands(of.allBytes / 1e9) },
  {
    name: 'clusters for disk',
    formula: 'GB / (diskBytes × busy), rounded up',
    value: (of) => thousands(of.clusters),
  },
]

function linesOf<Of>(lines: readonly Line<Of>[], steps: readonly Of[], head: readonly string[]): string {
  const rows = lines.map(({ name, formula, value }) => [name, ...steps.map(value), formula])
  return markdown(['', ...head, 'formula'], rows)
}

const markdown = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

/** Returns one row for each name in a formula: its value and its meaning. */
function inputRows(inputs: Inputs, { appending: { documents, inFlight } }: Size): string[][] {
  const { appended, typed, heard, idle, documentBytes } = inputs
  const micros = (value: number): string => `${round(value, 1)} µs`
  const bytes = (value: number): string => `${thousands(value)} bytes`
  return [
    [
      'appends',
      `${thousands(appended.perSecond)}/s`,
      `durable, ${thousands(documents)} documents, ${inFlight} in flight, by one client process on the same machine`,
    ],
    ['database', micros(appended.databaseCpu), 'CPU of PostgreSQL for one of them'],
    ['log', bytes(appended.walBytes), 'write-ahead log of PostgreSQL for one of them'],
    ['write', micros(typed.cpu.writing), 'CPU of the node of the writer for each update'],
    ['read', micros(typed.cpu.reading), 'CPU of the node of each reader'],
    [
      'receive',
      micros(heard.node),
      `CPU of a node that receives a message for a document that it does not have open, in a bucket of other open documents; at ${thousands(heard.perSecond)} per second`,
    ],
    ['deliver', micros(heard.nats), 'CPU of NATS to deliver such a message to one node'],
    [
      'message',
      bytes(typed.told.inBytes / typed.told.inMessages),
      `on the bus; ${round(typed.told.inMessages)} messages for each update`,
    ],
    ['frame', bytes(typed.wireBytes), 'on the websocket, for one update to one reader'],
    [
      'open',
      micros(idle.first.node),
      'CPU of a node to connect a client to a document that it must open, including its text',
    ],
    ['', micros(idle.first.postgres), 'CPU of PostgreSQL to open it'],
    ['', micros(idle.further.node), 'CPU of a node to connect a client to an open document'],
    [
      'connection',
      bytes(idle.first.bytes),
      `memory of a node for the first client of a document: ${thousands(1e9 / idle.first.bytes)} a GB`,
    ],
    [
      '',
      bytes(idle.further.bytes),
      `memory of a node for each further client of it: ${thousands(1e9 / idle.further.bytes)} a GB`,
    ],
    ['document', bytes(documentBytes), 'tables and indexes for a stored document, in addition to its text'],
  ]
}

export interface Circumstances {
  readonly size: Size
  readonly date: string
  readonly fsyncMs: number
  /** Number of processes that waited for a core at the end. The processes of the bench do not count. */
  readonly load: number
}

export function sheetOf(inputs: Inputs, { size, date, fsyncMs, load }: Circumstances): string {
  const assumed = Object.entries(assumptions).map(([name, { value, is }]) => [
    name,
    value.toLocaleString('en-US'),
    is,
  ])
  const limits = limitsOf(inputs)
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${round(totalmem() / 2 ** 30, 0)} GB, Node ${process.version}, fsync p50 ${round(fsyncMs)} ms, load ${round(load, 1)}`
  return `# Capacity of a cluster

This sheet estimates the nodes, databases and bandwidth for a number of connections and documents. \`npm run bench -- capacity\` measures, calculates and writes it; no value is entered manually. A cluster is several nodes of Weft on one schema of PostgreSQL and one NATS. A load that exceeds one cluster is divided among several independent clusters, each with its own PostgreSQL and NATS. A router in front of them selects the cluster by a hash of the workspace, so a workspace cannot be larger than a cluster.

All measurements ran on one machine (${date}: ${machine}). Two nodes, the listener, the load, PostgreSQL and NATS shared its cores. No measurement used more nodes. For larger clusters the sheet is arithmetic that assumes constant costs per unit.

## Measured

${markdown(['', 'value', 'description'], inputRows(inputs, size))}

## Assumed

${markdown(['', 'value', 'description'], assumed)}

The sheet does not include the wait for a standby, open documents without edits (nodes compare them with the database and with each other every few seconds), cursors and presence, REST calls, webhooks, versions and compaction, and TLS. It also ignores two savings: users on the same node, and a router that sends all users of a document to its home node.

A node without other work has busy × 1 s / (editing × rate × (write + (people − 1) × read) + open / session) connections, or nodeBytes / connection if that is fewer: ${thousands(limits.nodeConnections)}. Messages about documents go to ${thousands(bucketCount)} buckets. A node has documents in a share of 1 − (1 − 1 / ${thousands(bucketCount)}) ^ connections of them, and receives that *share* of all messages: ${percents(limits.told)}.

## Connections

${linesOf(
  needs,
  connectionSteps.map((step) => needOf(inputs, step)),
  connectionSteps.map(thousands),
)}

From "per cluster" on, each line is for one cluster, unless its name states otherwise.

## Documents stored

${linesOf(
  stores,
  documentSteps.map((step) => storedOf(inputs, step)),
  documentSteps.map(thousands),
)}

The larger number of clusters applies, for connections or for documents.
`
}
