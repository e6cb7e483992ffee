import { cpus, totalmem } from 'node:os'
import { percent, round, thousands } from '../support/report.ts'
import { type Check, checksOf, grows, ratioMax, ratioOf } from './checks.ts'
import type { Inputs, Size } from './inputs.ts'
import { measuredRows } from './measured-rows.ts'
import {
  assumptions,
  microsOf,
  type Need,
  needOf,
  nodeConnectionsOf,
  type Stored,
  storedOf,
} from './model.ts'

const connectionSteps = [1e3, 1e4, 1e5]
const documentSteps = [1e5, 1e6, 1e7]

interface Line<Of> {
  readonly name: string
  readonly formula: string
  readonly value: (of: Of) => string
}

const megabits = (bytes: number): string => round((bytes * 8) / 1e6, 1)

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
    name: 'cursors per second',
    formula: 'updates + connections / renewal',
    value: (of) => thousands(of.cursorsPerSecond),
  },
  {
    name: 'cores of PostgreSQL, for all clusters',
    formula:
      '(updates × database + connections × (idle + writes × write by REST + pages × page + node / connections of a node) + connects × open) / 1 s, with the CPU of PostgreSQL',
    value: (of) => round(of.clusters * of.databaseCores),
  },
  {
    name: 'clusters for the database',
    formula: 'these cores / (databaseCores × busy)',
    value: (of) => round(of.clustersForDatabase),
  },
  { name: '**clusters**', formula: 'the same, rounded up', value: (of) => `**${thousands(of.clusters)}**` },
  {
    name: 'used share of each database',
    formula: 'clusters for the database / clusters',
    value: ({ databaseShare }) => percent(databaseShare, 0),
  },
  {
    name: 'per cluster: nodes for CPU',
    formula: 'connections × the sum above / (1 s × busy − node)',
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
  {
    name: 'Mbit/s to clients, without TCP and TLS overhead',
    formula: '(people − 1) × (updates × frame + cursors × the frame of a cursor)',
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

/** Returns the row of a value with few and with many nodes. */
function checkRow(check: Check): string[] {
  const ratio = ratioOf(check)
  const verdict = ratio === null ? 'too small to measure' : grows(check) ? 'grows' : 'does not grow'
  const values = [check.few, check.many].map((value) => `${round(value, 1)} µs`)
  return [check.name, ...values, ratio === null ? '' : round(ratio), verdict]
}

function connectionRows(inputs: Inputs): string[][] {
  const { updates, cursors, idle, connects, rest } = microsOf(inputs)
  const row = (name: string, value: number, formula: string): string[] => [name, thousands(value), formula]
  return [
    row('updates', updates, 'editing × rate × (write + (people − 1) × read)'),
    row('cursors', cursors, '(editing × rate + 1 / renewal) × (move + (people − 1) × show)'),
    row('open document', idle, 'idle'),
    row('connects', connects, 'open / session'),
    row('REST', rest, 'writes × write by REST + pages × page'),
    row('**sum**', updates + cursors + idle + connects + rest, ''),
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
  const { units } = size
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${round(totalmem() / 2 ** 30, 0)} GB, Node ${process.version}, fsync p50 ${round(fsyncMs)} ms, load ${round(load, 1)}`
  return `# Capacity of a cluster

This sheet estimates the nodes, databases and bandwidth for a number of connections and documents. \`npm run bench -- capacity\` measures, calculates and writes it; no value is entered manually. A cluster is several nodes of Weft on one schema of PostgreSQL. A load that exceeds one cluster is divided among several independent clusters, each with its own PostgreSQL. A router in front of them selects the cluster by a hash of the workspace, so a workspace cannot be larger than a cluster.

All measurements ran on one machine (${date}: ${machine}). All nodes, the load and PostgreSQL shared its cores, so compare CPU time and not latency. Other work on the machine makes each unit of CPU time more expensive.

## Measured

${markdown(['', 'value', 'description'], measuredRows(inputs, size))}

## Assumptions tested with ${inputs.many.nodes} nodes

The same load was measured with ${inputs.few.nodes} and with ${inputs.many.nodes} nodes, ${size.rounds === 1 ? 'once' : `${size.rounds} times in alternation`}: ${thousands(units.idle)} documents without edits on each node, and for each group of nodes ${thousands(units.edited)} documents with ${thousands(units.perSecond)} updates per second. A group has ${inputs.few.nodes} nodes of ${inputs.few.nodes}, and 3 of ${inputs.many.nodes}. One user of the first node writes to a document, and one user of each other node of the group reads it. At this low rate a batch contains few updates, so an update costs more than at a high rate. A ratio above ${ratioMax} means that the cost grows with the nodes, or with the users of a document.

${markdown(['', `${inputs.few.nodes} nodes`, `${inputs.many.nodes} nodes`, 'ratio', ''], checksOf(inputs).map(checkRow))}

The sheet uses the values with ${inputs.many.nodes} nodes. No measurement used more than ${inputs.many.nodes} nodes. For larger clusters the sheet is arithmetic with these costs, although a cost that grows may be higher there. At a high rate, updates share commits, so \`write\` and \`database\` are upper limits. \`log\` was measured in large batches, and the log of REST writes is not included, so the sheet has lower limits for the log of the database.

## Assumed

${markdown(['', 'value', 'description'], assumed)}

An editor publishes a cursor with each update. The sheet does not include the wait for a standby, webhooks, callbacks, versions and compaction, other REST calls, and TLS. It also ignores two savings: users on the same node, and a router that sends all users of a document to its owner.

## CPU of a connection

All nodes together need this CPU time for one connection:

${markdown(['', 'µs per second', 'formula'], connectionRows(inputs))}

A node without other work has (1 s × busy − node) / that sum connections, or nodeBytes / connection if that is fewer: ${thousands(nodeConnectionsOf(inputs))}.

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
