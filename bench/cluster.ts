/**
 * Compares three deployments alternately in the same run: the embedded engine, one node with PostgreSQL, and
 * several nodes with PostgreSQL. Measures the time of a commit, the latency between users on
 * different nodes, the CPU cost of a keystroke in each process, and the time to open one of many documents.
 * All servers are separate processes on this machine.
 *
 *   node --import tsx bench/cluster.ts [--smoke] [--rounds=2] [--only=nodes|room]
 *
 * `--only=nodes` measures only the costs of a write and of a join in a cluster, and the pause after a kill.
 * `--only=room` measures only one document with many readers.
 */
import { parseArgs } from 'node:util'
import { fsyncMs } from '../src/cli/bench/measure.ts'
import { appendTo } from './cluster/appending.ts'
import { type Used, type Way, waysOver } from './cluster/deployments.ts'
import { type Delivery, measureRoom } from './cluster/large-room.ts'
import { measureNodes, type NodeCosts } from './cluster/node-costs.ts'
import { fill, openSome } from './cluster/opening.ts'
import { noStores, type Stores, startStores } from './cluster/stores.ts'
import { type Pace, type Typed, typeAcross } from './cluster/typing.ts'
import { median, progress, round, table, thousands } from './support/report.ts'

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string' },
    json: { type: 'string' },
  },
})
const rounds = Number(options.rounds ?? (options.smoke ? 1 : 2))
const size = options.smoke
  ? {
      appending: { documents: 100, inFlight: 32, seconds: 0.5 },
      paces: [{ rooms: 5, perSecond: 100, seconds: 0.5 }],
      opening: { documents: 500, opens: 10 },
      nodes: { paces: [{ rooms: 5, perSecond: 100 }], documents: 40, seconds: 0.5 },
      room: { readers: 60, perSecond: 10, seconds: 1 },
    }
  : {
      appending: { documents: 1_000, inFlight: 256, seconds: 5 },
      paces: [
        { rooms: 20, perSecond: 100, seconds: 2 },
        { rooms: 200, perSecond: 1_500, seconds: 3 },
      ],
      opening: { documents: 100_000, opens: 400 },
      nodes: {
        paces: [
          { rooms: 20, perSecond: 100 },
          { rooms: 200, perSecond: 1_500 },
        ],
        documents: 4_000,
        seconds: 6,
      },
      room: { readers: 1_500, perSecond: 10, seconds: 8 },
    }

async function appends(stores: Stores): Promise<void> {
  const { documents, inFlight, seconds } = size.appending
  const { level, postgres } = await appendTo(stores, size.appending)
  console.log(`\nappends to ${thousands(documents)} documents, ${inFlight} in flight, ${seconds} s`)
  const rows = Object.entries({ level, postgres }).map(([name, of]) => [
    name,
    thousands(of.perSecond),
    round(of.perSecond / level.perSecond),
    ...beside(of.p50, level.p50),
    ...beside(of.p99, level.p99),
    round(of.databaseCpu, 1),
    thousands(of.walBytes),
  ])
  table(
    ['', 'a second', 'of level', ...latencyHeads, 'CPU µs of the database each', 'bytes of its log each'],
    rows,
  )
}

const latencyHeads = ['p50 ms', 'of level', 'p99 ms', 'of level']
const beside = (value: number, of: number): string[] => [round(value), round(value / of)]

async function typing(stores: Stores, pace: Pace): Promise<void> {
  const ways = waysOver(stores)
  const typed = new Map(ways.map((way): [Way, Typed[]] => [way, []]))
  for (let turn = 0; turn < rounds; turn++)
    for (const [way, of] of typed) of.push(await typeAcross(way, stores, pace))
  const { rooms, perSecond } = pace
  console.log(
    `\n${rooms} rooms, one types and one reads at the other node if there is one, ${thousands(perSecond)}/s; ${rounds} rounds in turns, medians`,
  )
  const of = (way: Way, value: (one: Typed) => number) => median((typed.get(way) ?? []).map(value))
  const cpu = ({ cpu: { writing, reading, postgres } }: Typed) => writing + reading + postgres
  const rows = ways.map((way) => [
    way.name,
    ...beside(
      of(way, ({ p50 }) => p50),
      of(ways[0], ({ p50 }) => p50),
    ),
    ...beside(
      of(way, ({ p99 }) => p99),
      of(ways[0], ({ p99 }) => p99),
    ),
    ...beside(of(way, cpu), of(ways[0], cpu)),
    ...(['writing', 'reading', 'postgres'] as const).map((part: keyof Used) =>
      round(
        of(way, (one) => one.cpu[part]),
        1,
      ),
    ),
  ])
  const cpuHeads = ['CPU µs an update', 'of level', 'where it is typed', 'where it is read', 'postgres']
  table(['', ...latencyHeads, ...cpuHeads], rows)
}

async function opening(stores: Stores): Promise<void> {
  const { documents, opens } = size.opening
  const filled = await fill(stores, documents)
  const ways = waysOver(stores)
  const times: { readonly p50: number; readonly p99: number }[] = []
  for (const way of ways) times.push(await openSome(way, filled, size.opening))
  console.log(
    `\nfrom connecting to the text of one of ${thousands(documents)} documents, ${opens} at random, of which none is open`,
  )
  const rows = ways.map(({ name }, index) => {
    const [of, level] = [times[index], times[0]] as [(typeof times)[0], (typeof times)[0]]
    return [name, ...beside(of.p50, level.p50), ...beside(of.p99, level.p99)]
  })
  table(['', ...latencyHeads], rows)
  console.log(`  ${thousands(filled.bytesEach)} bytes a document in the database`)
}

/** Measures what one write and one join cost in a cluster, if the owner has the clients and if it has not. */
async function nodeCosts(stores: Stores): Promise<void> {
  const measured: NodeCosts[] = []
  for (let turn = 0; turn < rounds; turn++) measured.push(await measureNodes(stores, size.nodes))
  console.log(`\na write and a join in a cluster of 2 nodes; ${rounds} rounds, medians`)
  const rows = (measured[0]?.units ?? []).map(({ name }, index) => {
    const of = (part: 'nodes' | 'postgres' | 'bytes'): number =>
      median(measured.map(({ units }) => units[index]?.[part] ?? Number.NaN))
    const bytes = of('bytes')
    return [
      name,
      round(of('nodes'), 0),
      round(of('postgres'), 0),
      Number.isNaN(bytes) ? '' : round(bytes / 1_000, 1),
    ]
  })
  table(['', 'CPU µs of all nodes', 'CPU µs of postgres', 'KB of all nodes'], rows)
  const idle = median(measured.map(({ idleConnection }) => idleConnection))
  const pause = median(measured.map(({ pauseMs }) => pauseMs))
  console.log(`  an idle connection: CPU µs a second of all nodes ${round(idle)}`)
  console.log(`  from the kill of a node until all its documents are written: ${thousands(pause)} ms`)
}

/** Measures what a reader of a large document costs, with one node and with three. */
async function room(stores: Stores): Promise<void> {
  const { readers, perSecond } = size.room
  const measured: (readonly Delivery[])[] = []
  for (let turn = 0; turn < rounds; turn++) measured.push(await measureRoom(stores, size.room))
  console.log(
    `\n${thousands(readers)} readers of one document, ${perSecond}/s, CPU µs of all nodes for each delivery; ${rounds} rounds, medians`,
  )
  const of = (index: number, part: 'update' | 'cursor'): number =>
    median(measured.map((deliveries) => deliveries[index]?.[part] ?? Number.NaN))
  const rows = (measured[0] ?? []).map(({ name }, index) => [
    name,
    ...beside(of(index, 'update'), of(0, 'update')),
    ...beside(of(index, 'cursor'), of(0, 'cursor')),
  ])
  table(['', 'an update', 'ratio', 'a cursor', 'ratio'], rows)
}

const only: Readonly<Record<string, (stores: Stores) => Promise<void>>> = { nodes: nodeCosts, room }

async function all(): Promise<void> {
  if (options.only !== undefined && !(options.only in only))
    throw new Error('--only must be `nodes` or `room`')
  const stores = await startStores()
  const disk = fsyncMs()
  const compared = [
    () => appends(stores),
    ...size.paces.map((pace) => () => typing(stores, pace)),
    () => opening(stores),
  ]
  const costs = Object.entries(only).filter(([name]) => name === (options.only ?? name))
  const steps = [
    ...(options.only === undefined ? compared : []),
    ...costs.map(
      ([, measure]) =>
        () =>
          measure(stores),
    ),
  ]
  const bar = progress('cluster')
  for (const [index, step] of steps.entries()) {
    bar.at(index / steps.length)
    await step()
  }
  bar.end()
  console.log(`\nfsync on this machine: p50 ${round(disk.p50)} ms, p99 ${round(disk.p99)} ms`)
}

if (noStores === null) await all()
else console.log(`there is no cluster to be measured: ${noStores}`)
process.exit()
