import { cpus, totalmem } from 'node:os'
import { bucketCount } from '../../src/core/store/buckets.ts'
import { percent, round, thousands } from '../support/report.ts'
import {
  type Check,
  checksOfConstants,
  checksOfOthers,
  grows,
  ratioMax,
  ratioOf,
  sharesOf,
} from './checks.ts'
import type { Inputs, Size } from './inputs.ts'
import { measuredRows } from './measured-rows.ts'
import { assumptions, limitsOf, microsOf, type Need, needOf, type Stored, storedOf } from './model.ts'

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
    name: 'messages on the bus per second',
    formula: 'updates × messages of an update + connections × compare',
    value: (of) => thousands(of.messagesPerSecond),
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
    value: (of) => round(of.clustersFor.database),
  },
  {
    name: 'clusters for messages to nodes that do not need them',
    formula: 'messages × share × receive / (1 s × busy × receiving)',
    value: (of) => round(of.clustersFor.hearing),
  },
  { name: '**clusters**', formula: 'the larger, rounded up', value: (of) => `**${thousands(of.clusters)}**` },
  {
    name: '**first limit reached**',
    formula: 'the larger of the two, and the share of it that one of these clusters uses',
    value: ({ share }) =>
      share.database > share.hearing
        ? `database, ${percent(share.database, 0)}`
        : `unneeded messages, ${percent(share.hearing, 0)}`,
  },
  {
    name: 'per cluster: nodes for CPU',
    formula: 'connections × the sum above / (1 s × busy − node − messages × share × receive)',
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
    name: 'Mbit/s into NATS',
    formula: 'the messages of updates and documents × their sizes',
    value: (of) => megabits(of.busBytesIn),
  },
  {
    name: 'Mbit/s out of NATS',
    formula: 'the same × (people − 1 + (nodes − people) × share)',
    value: (of) => megabits(of.busBytesOut),
  },
  {
    name: 'cores of NATS',
    formula: 'messages × (people − 1 + (nodes − people) × share) × deliver',
    value: (of) => round(of.busCores),
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

const formatValue = ({ unit }: Check, value: number): string =>
  unit === 'µs' ? `${round(value, 1)} µs` : round(value)

function checkRow(check: Check, growing: (ratio: number) => string): string[] {
  const ratio = ratioOf(check)
  const verdict = ratio === null ? 'too small to measure' : grows(check) ? growing(ratio) : 'does not grow'
  const values = [check.few, check.many].map((value) => formatValue(check, value))
  return [check.name, ...values, ratio === null ? '' : round(ratio), verdict]
}

/** Returns one row for each assumption about the number of nodes. */
function checkRows(inputs: Inputs, { units }: Size): string[][] {
  const { formula, measured } = sharesOf(inputs, units)
  return [
    ...checksOfConstants(inputs).map((check) =>
      checkRow(check, (ratio) => `grows: the sheet multiplies the cost by ${round(ratio)}`),
    ),
    [
      `share of unneeded messages with ${thousands(units.idle)} documents on a node: by the formula, measured`,
      percent(formula, 1),
      percent(measured, 1),
      round(measured / formula),
      measured / formula <= ratioMax ? 'the formula is right' : 'the formula is too low',
    ],
    ...checksOfOthers(inputs).map((check) => checkRow(check, () => 'grows')),
  ]
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
  const limits = limitsOf(inputs)
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${round(totalmem() / 2 ** 30, 0)} GB, Node ${process.version}, fsync p50 ${round(fsyncMs)} ms, load ${round(load, 1)}`
  return `# Capacity of a cluster

This sheet estimates the nodes, databases and bandwidth for a number of connections and documents. \`npm run bench -- capacity\` measures, calculates and writes it; no value is entered manually. A cluster is several nodes of Weft on one schema of PostgreSQL and one NATS. A load that exceeds one cluster is divided among several independent clusters, each with its own PostgreSQL and NATS. A router in front of them selects the cluster by a hash of the workspace, so a workspace cannot be larger than a cluster.

All measurements ran on one machine (${date}: ${machine}). All nodes, the load, PostgreSQL and NATS shared its cores, so compare CPU time and not latency. Other work on the machine makes each unit of CPU time more expensive.

## Measured

${markdown(['', 'value', 'description'], measuredRows(inputs, size))}

## Assumptions tested with ${inputs.many.nodes} nodes

The same load was measured with ${inputs.few.nodes} and with ${inputs.many.nodes} nodes, ${size.rounds === 1 ? 'once' : `${size.rounds} times in alternation`}: ${thousands(units.idle)} documents without edits on each node, and for each group of nodes ${thousands(units.edited)} documents with ${thousands(units.perSecond)} updates per second. A group has ${inputs.few.nodes} nodes of ${inputs.few.nodes}, and 3 of ${inputs.many.nodes}. One user of the first node writes to a document, and one user of each other node of the group reads it. At this low rate a batch contains few updates, so an update costs more than at a high rate. A ratio above ${ratioMax} means that the cost grows with the nodes, or with the users of a document.

${markdown(['', `${inputs.few.nodes} nodes`, `${inputs.many.nodes} nodes`, 'ratio', ''], checkRows(inputs, size))}

The sheet uses the values with ${inputs.many.nodes} nodes, except for messages that a node does not need: it uses the values above, at a higher rate. No measurement used more than ${inputs.many.nodes} nodes. For larger clusters the sheet is arithmetic with these costs, although a cost that grows may be higher there. At a high rate, updates share commits, so \`write\` and \`database\` are upper limits. \`log\` was measured in large batches, and the log of REST writes is not included, so the sheet has lower limits for the log of the database.

## Assumed

${markdown(['', 'value', 'description'], assumed)}

An editor publishes a cursor with each update. The sheet does not include the wait for a standby, webhooks, callbacks, versions and compaction, other REST calls, and TLS. It also ignores two savings: users on the same node, and a router that sends all users of a document to its home node.

## CPU of a connection

All nodes together need this CPU time for one connection:

${markdown(['', 'µs per second', 'formula'], connectionRows(inputs))}

A node without other work has (1 s × busy − node) / that sum connections, or nodeBytes / connection if that is fewer: ${thousands(limits.nodeConnections)}. Messages about documents go to ${thousands(bucketCount)} buckets. A node has documents in a share of 1 − (1 − 1 / ${thousands(bucketCount)}) ^ connections of them, and receives that *share* of all messages: ${percent(limits.told, 0)}.

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
