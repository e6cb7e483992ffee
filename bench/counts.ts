/**
 * Counts the cost of a new document in each step, for two users with one update each: promises, buffers, bytes on the
 * heap, operations of LevelDB and CPU time, with the background work that follows within the settling time. The counts
 * hardly depend on the load of the machine.
 *
 *   node --import tsx bench/counts.ts [--smoke]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { yWebsocketMessages as messages } from '../src/cli/bench/client-protocol.ts'
import { endWithThis } from '../src/cli/bench/ending.ts'
import { newText } from '../src/cli/bench/entering.ts'
import { LoadSocket } from '../src/cli/bench/load-socket.ts'
import { round, table } from './support/report.ts'
import { temporaryDirectory } from './support/server.ts'

/** Resources that the server has used since its start. */
export interface Counts {
  readonly promises: number
  readonly buffers: number
  readonly heapBytes: number
  /** Puts and deletes. */
  readonly operations: number
  readonly batches: number
  readonly syncs: number
  /** Keys that were read, and ranges. */
  readonly reads: number
  readonly cpuUs: number
}

const smoke = process.argv.includes('--smoke')
const rooms = smoke ? 5 : 200
/** Rooms of a first pass, which compiles the code and fills the caches. */
const firstRooms = smoke ? 5 : 600
/** Time in ms in which the background work ends. */
const settleMs = smoke ? 300 : 1_500
/** Time in ms between two rooms, so that the work of one room shares no batch with that of another. */
const pauseMs = 5

const data = temporaryDirectory()
// Without a large young generation, a collection would hide the bytes that were allocated before it.
const execArgv = ['--import', 'tsx', '--min-semi-space-size=512', '--max-semi-space-size=512']
const server = fork(new URL('support/counted-server.ts', import.meta.url), [data], { execArgv })
endWithThis(server)
const [urls] = (await once(server, 'message')) as [readonly [string, string]]

async function countsOf(process: ChildProcess): Promise<Counts> {
  process.send('counts')
  const [counts] = (await once(process, 'message')) as [Counts]
  return counts
}

async function join(room: string, which: 0 | 1): Promise<LoadSocket> {
  const socket = await LoadSocket.open(urls[which].replace('ROOM', room))
  await new Promise<void>((resolve) => {
    socket.onMessage = (payload) => messages.read(payload)?.kind === 'offer' && resolve()
    socket.send(messages.ask(room))
    socket.send(messages.offerNothing(room))
  })
  return socket
}

/** Runs each step for all rooms, one room after the other. Returns the counts of each step for one room. */
async function run(prefix: string, count: number): Promise<Readonly<Record<string, Counts>>> {
  const sockets: (readonly [LoadSocket, LoadSocket])[] = []
  const write = (which: 0 | 1) => async (index: number) =>
    sockets[index]?.[which].send(messages.update('', newText().update))
  const steps: Readonly<Record<string, (index: number) => Promise<unknown>>> = {
    'two connects': async (index) => {
      const room = `${prefix}-${index}`
      sockets.push([await join(room, 0), await join(room, 1)])
    },
    'first write': write(0),
    'second write, other user': write(1),
    'third write': write(0),
  }
  const found: Record<string, Counts> = {}
  for (const [name, step] of Object.entries(steps)) {
    const before = await countsOf(server)
    for (let index = 0; index < count; index++) {
      await step(index)
      await sleep(pauseMs)
    }
    await sleep(settleMs)
    const after = await countsOf(server)
    const names = Object.keys(after) as (keyof Counts)[]
    found[name] = Object.fromEntries(
      names.map((each) => [each, (after[each] - before[each]) / count]),
    ) as unknown as Counts
  }
  return found
}

await run('first', firstRooms)
const steps = await run('counted', rooms)
console.log(`\nfor one room, mean of ${rooms}, with a share of the work that runs in any case\n`)
table(
  ['', 'promises', 'buffers', 'heap KB', 'operations', 'batches', 'syncs', 'reads', 'CPU µs'],
  Object.entries(steps).map(([name, step]) => [
    name,
    ...[step.promises, step.buffers, step.heapBytes / 1024].map((value) => round(value, 0)),
    ...[step.operations, step.batches, step.syncs, step.reads].map((value) => round(value, 1)),
    round(step.cpuUs, 0),
  ]),
)
process.exit()
