import { cpus, totalmem } from 'node:os'
import { bucketCount } from '../../src/engine/buckets.ts'
import { round, thousands } from '../support/report.ts'
import type { Inputs, Size } from './inputs.ts'
import { assumptions, limitsOf, type Need, needOf, type Stored, storedOf } from './model.ts'

const connectionSteps = [1e4, 1e5, 1e6, 1e7]
const documentSteps = [1e6, 1e7, 1e8]

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
    name: 'updates a second',
    formula: 'connections × editing × rate',
    value: (of) => thousands(of.updatesPerSecond),
  },
  {
    name: 'connects a second',
    formula: 'connections / session',
    value: (of) => thousands(of.connectsPerSecond),
  },
  {
    name: 'clusters for appends',
    formula: 'updates / (appends × busy)',
    value: (of) => round(of.clustersFor.appends),
  },
  {
    name: 'clusters for what nodes hear in vain',
    formula: 'updates × share × hear / (1 s × busy × hearing)',
    value: (of) => round(of.clustersFor.hearing),
  },
  { name: '**clusters**', formula: 'the larger, rounded up', value: (of) => `**${thousands(of.clusters)}**` },
  {
    name: 'the same with larger databases',
    formula: 'with appends × busy = databaseCores × busy × 1 s / database',
    value: (of) => thousands(of.clustersWithLargeDatabases),
  },
  {
    name: '**limit that comes first**',
    formula: 'the larger of the two, and how much of it one of these clusters uses',
    value: ({ share }) =>
      share.appends > share.hearing
        ? `appends, ${percents(share.appends)}`
        : `hearing in vain, ${percents(share.hearing)}`,
  },
  {
    name: 'of one cluster: nodes for CPU',
    formula:
      '(updates × (write + (people − 1) × read) + connects × come) / (1 s × busy − updates × share × hear)',
    value: (of) => thousands(of.nodesForCpu),
  },
  {
    name: 'nodes for memory',
    formula: 'connections × connection / nodeBytes',
    value: (of) => thousands(of.nodesForMemory),
  },
  { name: 'nodes', formula: 'the larger, and one that may be lost', value: (of) => thousands(of.nodes) },
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
    formula: 'updates × (people − 1 + (nodes − people) × share) × told',
    value: (of) => round(of.busCores),
  },
  {
    name: 'Mbit/s to people, without frames of TCP and TLS',
    formula: 'updates × (people − 1) × frame',
    value: (of) => megabits(of.wireBytes),
  },
  {
    name: 'Mbit/s of the log of the database, to each standby',
    formula: 'updates × log',
    value: (of) => megabits(of.walBytes),
  },
  {
    name: 'GB of that log a day',
    formula: 'the same × 86,400 s',
    value: (of) => thousands((of.walBytes * 86_400) / 1e9),
  },
  {
    name: 'seconds until all people of a lost node are let in elsewhere',
    formula: 'connections / nodes × come / ((nodes − 1) × busy)',
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
  return markdown(['', ...head, 'how'], rows)
}

const markdown = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

/** The meaning of each name in a formula. */
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
    ['log', bytes(appended.walBytes), 'that PostgreSQL writes ahead for one of them'],
    ['write', micros(typed.cpu.writing), 'CPU of the node where somebody types, an update'],
    ['read', micros(typed.cpu.reading), 'CPU of a node where somebody else reads it'],
    [
      'hear',
      micros(heard.node),
      `CPU of a node that hears of an update of a document that it has not, in a bucket in which it has others; at ${thousands(heard.perSecond)} a second`,
    ],
    ['told', micros(heard.nats), 'CPU of NATS for such a message to one node'],
    [
      'message',
      bytes(typed.told.inBytes / typed.told.inMessages),
      `on the bus; ${round(typed.told.inMessages)} of them an update`,
    ],
    ['frame', bytes(typed.wireBytes), 'of websocket, an update to one reader'],
    [
      'come',
      micros(idle.first.node),
      'CPU of a node to let somebody into a document that it has not open, text included',
    ],
    ['', micros(idle.first.postgres), 'CPU of PostgreSQL for that'],
    ['', micros(idle.further.node), 'CPU of a node to let somebody into a document that it has open'],
    [
      'connection',
      bytes(idle.first.bytes),
      `memory of a node for somebody in a document of their own there: ${thousands(1e9 / idle.first.bytes)} a GB`,
    ],
    [
      '',
      bytes(idle.further.bytes),
      `and for each further one in it: ${thousands(1e9 / idle.further.bytes)} a GB`,
    ],
    ['document', bytes(documentBytes), 'of tables and indexes beside the text of a stored document'],
  ]
}

export interface Circumstances {
  readonly size: Size
  readonly date: string
  readonly fsyncMs: number
  /** Number of processes that waited for a core at the end, without those of the bench. */
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
  return `# What a cluster takes

Made by \`npm run bench -- capacity\`, which measures and then calculates; nothing here is entered by hand. A cluster is some nodes of Weft over one schema of PostgreSQL and one NATS. What is more than one cluster can do is shared out among several that know nothing of each other, each with its own PostgreSQL and NATS: a router in front of them chooses by a hash of the workspace, so that a workspace cannot be larger than a cluster.

Everything that was measured ran on one machine (${date}: ${machine}): two nodes, the listener, the load, PostgreSQL and NATS shared its cores. Nothing was measured with more nodes than that: beyond them the sheet is arithmetic, in which everything costs the same however many there are.

## Measured

${markdown(['', 'value', 'what'], inputRows(inputs, size))}

## Assumed

${markdown(['', 'value', 'what'], assumed)}

Not in it: what it takes to wait for a standby, what documents take that are only open (nodes compare them with the database and with each other every few seconds), cursors and presence, REST calls, webhooks, versions and compaction, TLS, people who are at the same node (which costs less), a router that sends all people of a document to its home node (which makes nodes hear little in vain).

A node that does nothing else has as many connections as busy × 1 s / (editing × rate × (write + (people − 1) × read) + come / session), or as nodeBytes / connection if that is fewer: ${thousands(limits.nodeConnections)}. Of the ${thousands(bucketCount)} buckets in which nodes tell each other of documents it has documents in 1 − (1 − 1 / ${thousands(bucketCount)}) ^ connections, and so hears that *share* of all there is to hear: ${percents(limits.told)}.

## Connections

${linesOf(
  needs,
  connectionSteps.map((step) => needOf(inputs, step)),
  connectionSteps.map(thousands),
)}

From "of one cluster" on, each line is about one of the clusters, unless it says otherwise.

## Documents stored

${linesOf(
  stores,
  documentSteps.map((step) => storedOf(inputs, step)),
  documentSteps.map(thousands),
)}

Whichever asks for more clusters decides, connections or documents.
`
}
