import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { round, thousands } from '../../bench/support/report.ts'
import { seed } from '../support/data/seed.ts'
import { missing } from '../support/needs.ts'
import { behindProxies } from './behind-proxies.ts'
import { type Crashes, type CrashOptions, crashes } from './crashes.ts'
import { followFeed } from './feed-consumers.ts'
import { hostileNeighbors } from './hostile-step.ts'
import { leaks } from './leaks.ts'
import { type Noticed, noise } from './neighbor-latency.ts'
import { storm } from './reconnect-storm.ts'
import { openAndClose } from './rooms.ts'
import { type Burst, burst } from './slow-reader.ts'

/** `smoke` is just long enough to prove that everything runs. */
export type Size = 'smoke' | 'full' | 'long'

export interface Outcome {
  readonly promise: string
  readonly done: string
  readonly result: string
  readonly kept: boolean
}

type Say = (line: string) => void
/** @param parts the wanted parts of the step; empty means all */
export type Step = (size: Size, say: Say, parts: readonly string[]) => Promise<readonly Outcome[]>

const MB = 1_000_000
const megabytes = (bytes: number): string => `${round(bytes / MB, 1)} MB`
const ms = (milliseconds: number): string => `${round(milliseconds, 0)} ms`

const amounts = {
  kills: { smoke: 2, full: 200, long: 1_000 },
  cuts: { smoke: 1, full: 20, long: 100 },
  rooms: { smoke: 200, full: 20_000, long: 20_000 },
  wireFrames: { smoke: 2_000, full: 300_000, long: 1_000_000 },
  decodedFrames: { smoke: 5_000, full: 700_000, long: 1_000_000 },
  burstBytes: { smoke: 20 * MB, full: 200 * MB, long: 200 * MB },
  clients: { smoke: 100, full: 2_000, long: 2_000 },
  /** Duration of typing, with and without noise. */
  typingSeconds: { smoke: 1, full: 5, long: 30 },
  largeBytes: { smoke: 1 * MB, full: 9 * MB, long: 9 * MB },
  feedDocuments: { smoke: 40, full: 1_000, long: 10_000 },
  visitRounds: { smoke: 1, full: 20, long: 200 },
} satisfies Record<string, Record<Size, number>>

/** Longer than the leave delay of presence and the window of edit activities. */
const settleMs = 11_000

/** The numeric limits. */
const bars = {
  keptBytes: 1_000,
  growthBytes: 40 * MB,
  heldBytes: 8 * MB,
  unchangedBytes: 64,
  leakedBytesPerVisit: 1_000,
}

async function crash(by: CrashOptions['by'], rounds: number, say: Say): Promise<readonly Outcome[]> {
  // The halves run in parallel, each with its own server, because a round mostly waits.
  const parts = [Math.ceil(rounds / 2), Math.floor(rounds / 2)].filter((part) => part > 0)
  const all = await Promise.all(
    parts.map((part, lane) => crashes({ rounds: part, seed: seed + lane, by, say })),
  )
  const sum = (of: (crashes: Crashes) => number): number => all.reduce((total, each) => total + of(each), 0)
  const [shown, answered, lost] = [
    sum((each) => each.shown),
    sum((each) => each.answered),
    sum((each) => each.lost),
  ]
  const cutBytes = sum((each) => each.cutBytes)
  const cut = by === 'power' ? `, ${thousands(cutBytes)} bytes of the files cut off` : ''
  return [
    {
      promise: `what was shown is there after ${by === 'power' ? 'a cut of power' : '`kill -9`'}`,
      done: `${rounds} ${by === 'power' ? 'cuts of power' : 'SIGKILLs'} under load, seed ${seed}`,
      result: `${lost} lost of ${thousands(shown)} updates and ${thousands(answered)} answers shown${cut}; clients converged each time`,
      kept: lost === 0,
    },
  ]
}

const kills: Step = (size, say) => crash('SIGKILL', amounts.kills[size], say)
const cuts: Step = (size, say) => crash('power', amounts.cuts[size], say)

const rooms: Step = async (size, say) => {
  const count = amounts.rooms[size]
  const { heapBytes, bufferBytes, residentBytes } = await openAndClose(count, say)
  const kept = heapBytes + bufferBytes
  return [
    {
      promise: 'closed rooms leave nothing',
      done: `${thousands(count)} rooms of new documents opened, edited and closed`,
      result: `${thousands(kept)} bytes of memory a room after garbage collection (${thousands(residentBytes)} of the process, caches included)`,
      // With few rooms, most of the memory is code that is compiled meanwhile.
      kept: kept < bars.keptBytes || size === 'smoke',
    },
  ]
}

const vitest = fileURLToPath(new URL('vitest.mjs', import.meta.resolve('vitest/package.json')))

const fuzz: Step = async (size) => {
  const [wire, decoded] = [amounts.wireFrames[size], amounts.decodedFrames[size]]
  const sizes = { WEFT_FUZZ_FRAMES: String(wire), WEFT_FUZZ_CASES: String(decoded) }
  const tests = ['test/fuzz/wire.test.ts', 'test/fuzz/frames.test.ts']
  const child = spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      vitest,
      'run',
      '--config',
      'test/vitest.config.ts',
      '--silent',
      '--no-file-parallelism',
      ...tests,
    ],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, ...sizes, WEFT_TEST_LONG: '1', WEFT_FUZZ_SEED: String(seed) },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const [code] = (await once(child, 'exit')) as [number | null]
  return [
    {
      promise: 'hostile frames end nothing but their own connection',
      done: `${thousands(wire)} at sockets, ${thousands(decoded)} at what reads them, seed ${seed}`,
      result: code === 0 ? 'no crash, other rooms unaffected, memory bounded' : 'failed',
      kept: code === 0,
    },
  ]
}

const slowReader: Step = async (size, say) => {
  const bytes = amounts.burstBytes[size]
  const seconds = size === 'smoke' ? 2 : 10
  const run = async (reader: 'reading' | 'stopped'): Promise<Burst> => {
    const ran = await burst({ bytes, seconds, reader })
    say(`reader ${reader}: ${megabytes(ran.growthBytes)}, others' p99 ${ms(ran.neighbors.p99Ms)}`)
    return ran
  }
  const [reading, stopped] = [await run('reading'), await run('stopped')]
  const p99s = [stopped, reading].map(({ neighbors }) => neighbors.p99Ms) as [number, number]
  const { read, sent } = stopped.messages
  return [
    {
      promise: 'a reader that stops costs a bounded buffer',
      done: `${megabytes(bytes)} to a reader that has stopped, then to one that reads`,
      result:
        `the process grew by ${megabytes(stopped.growthBytes)} (reading: ${megabytes(reading.growthBytes)}), ` +
        `held ${megabytes(stopped.heldBytes)} more; the reader came back with ${read} messages of ${sent}; ` +
        `others' p99 ${ms(p99s[0])} to ${ms(p99s[1])}, ratio ${round(p99s[0] / p99s[1])}`,
      // The peak contains garbage, whose amount depends on the load of the machine.
      kept:
        stopped.heldBytes <= bars.heldBytes && stopped.growthBytes <= reading.growthBytes + bars.growthBytes,
    },
  ]
}

const comeBack: Step = async (size, say) => {
  const count = amounts.clients[size]
  const outcomes: Outcome[] = []
  for (const ended of ['SIGTERM', 'SIGKILL'] as const) {
    const { milliseconds, unequal, unchangedBytes, documentBytes } = await storm(count, ended)
    say(`${ended}: ${ms(milliseconds)}`)
    outcomes.push({
      promise: 'after a restart everybody is back, and what did not change is not sent',
      done: `${thousands(count)} stock clients come back at once after ${ended}`,
      result: `${count - unequal} synced and equal in ${round(milliseconds / 1000, 1)} s; an unchanged one exchanged ${unchangedBytes} bytes of a document of ${thousands(documentBytes)}`,
      kept: unequal === 0 && unchangedBytes <= bars.unchangedBytes,
    })
  }
  return outcomes
}

/** Prints figures without a limit. */
const noisy: Step = async (size) => {
  const [bytes, seconds] = [amounts.largeBytes[size], amounts.typingSeconds[size]]
  const { quiet, replacing, loading, flooding } = await noise({ bytes, seconds })
  const row = (done: string, { here, elsewhere }: Noticed): Outcome => ({
    promise: 'what neighbors notice',
    done,
    result: `p99 of typing in another document ${ms(here.p99Ms)}; ${ms(elsewhere.p99Ms)} if that happens on another server of the machine (ratio ${round(here.p99Ms / elsewhere.p99Ms)}); ${ms(quiet.p99Ms)} if nothing does`,
    kept: true,
  })
  return [
    row(`a document of ${megabytes(bytes)} is replaced ${replacing.times} times`, replacing),
    row(`it is loaded ${loading.times} times`, loading),
    row(`${thousands(flooding.times)} updates flood one room`, flooding),
  ]
}

const leaked: Step = async (size) => {
  const { visits, connections, documents, resources, heapBytes } = await leaks(
    amounts.visitRounds[size],
    settleMs,
  )
  const left = Object.entries(resources).map(([kind, count]) => `${count} ${kind}`)
  return [
    {
      promise: 'a load leaves nothing',
      done: `${thousands(visits)} visits of clients that type, show themselves and leave in several ways`,
      result: `${connections} connections, ${documents} documents, ${left.join(', ') || 'no socket or timer'} more than before; heap ${thousands(heapBytes / visits)} bytes a visit more`,
      kept:
        connections + documents + left.length === 0 &&
        (heapBytes / visits < bars.leakedBytesPerVisit || size === 'smoke'),
    },
  ]
}

/** Runs on PostgreSQL only if it is installed. */
const feed: Step = async (size, say, parts) => {
  const documents = amounts.feedDocuments[size]
  const outcomes: Outcome[] = []
  for (const store of ['embedded', 'cluster'] as const) {
    if (parts.length > 0 && !parts.includes(store)) continue
    if (store === 'cluster' && missing('postgres') !== null) continue
    const started = performance.now()
    const { writes, deletions, events, kills, restarts, differing } = await followFeed({
      documents,
      seed,
      store,
      say,
    })
    const seconds = round((performance.now() - started) / 1000, 0)
    const where =
      store === 'embedded' ? 'one server, restored from an older backup' : 'two nodes on PostgreSQL'
    outcomes.push({
      promise: 'a consumer of the change feed rebuilds all documents exactly',
      done: `${thousands(documents)} documents on ${where}: ${thousands(writes)} writes and ${thousands(deletions)} deletions in ${seconds} s, ${restarts} SIGKILLs or restarts of servers, seed ${seed}`,
      result: `${differing.length} documents differ; the consumer applied ${thousands(events)} events, and was killed ${thousands(kills)} times`,
      kept: differing.length === 0 && (kills > 0 || size === 'smoke'),
    })
  }
  return outcomes
}

/** The steps in their order; the longest is the last. */
export const steps: Readonly<Record<string, Step>> = {
  rooms,
  'slow-reader': slowReader,
  storm: comeBack,
  noise: noisy,
  leaks: leaked,
  hostile: hostileNeighbors,
  proxies: behindProxies,
  feed,
  power: cuts,
  fuzz,
  kills,
}
