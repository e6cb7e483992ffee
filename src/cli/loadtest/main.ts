import { execFile } from 'node:child_process'
import { constants, cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Progress, StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import type { OnlineServer } from '../../capabilities/transfer/documents/rest-client.ts'
import { errorMessage } from '../../core/base/errors.ts'
import { readPackageVersion } from '../../core/base/package-version.ts'
import { fsyncMs } from '../bench/measure.ts'
import { connectAll, connectOne, endAll, expectOpen } from './connect-clients.ts'
import {
  broadcastScenario,
  type LoadFigure,
  type LoadScenario,
  latencyScenario,
  replaceScenario,
} from './scenario.ts'
import { remoteTarget, spawnedTarget, type TargetServer } from './target-server.ts'

const socketsMax = 1_000
const socketsPerRoom = 10

/**
 * LoadScenario that opens connections until the time is over, ten for each document. Each client waits until it
 * has the content of its document.
 */
const connectScenario: LoadScenario = {
  name: `up to ${socketsMax} who connect, ${socketsPerRoom} to a document`,
  share: 0.15,
  async run(target, seconds) {
    const memory = await residentBytes(target.pid)
    const start = performance.now()
    const sockets = await connectAll(
      socketsMax,
      (index) => connectOne(target, `connect-${Math.floor(index / socketsPerRoom)}`),
      start + seconds * 1000,
    )
    const value = sockets.length / ((performance.now() - start) / 1000)
    await sleep(Math.min(500, seconds * 250))
    const bytes = ((await residentBytes(target.pid)) - memory) / sockets.length
    expectOpen(sockets)
    endAll(sockets)
    const connects = { key: 'connectsPerSecond', label: 'connects', value, unit: '/s' } as const
    if (Number.isNaN(bytes)) return [connects]
    const kilobytes = Math.max(0, bytes / 1024)
    return [
      connects,
      { key: 'connectionKilobytes', label: 'memory of a connection', value: kilobytes, unit: 'KB' },
    ]
  },
}

/** Returns the resident memory of a process in bytes; NaN if it cannot be measured. */
async function residentBytes(pid: number | null): Promise<number> {
  if (pid === null) return Number.NaN
  const listing = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]).catch(() => null)
  return listing === null ? Number.NaN : Number(listing.stdout.trim()) * 1024
}

/** Duration in seconds. A shorter run uses fewer clients, because connecting them takes time. */
const quickSeconds = 5

/**
 * Returns the scenarios in the order in which they run. The connect scenario is first, because the memory per
 * connection is measured best on an idle server.
 */
function scenariosFor(seconds: number): readonly LoadScenario[] {
  const count = seconds < quickSeconds ? 10 : 100
  return [connectScenario, broadcastScenario(count), latencyScenario(count), replaceScenario]
}

export interface ScenarioResult {
  readonly version: string
  readonly node: string
  readonly cpu: string
  readonly cores: number
  /** Time of one disk sync on this machine in ms (p50). */
  readonly fsyncMs: number
  /** URL of the measured server; null if the load test has started the server. */
  readonly url: string | null
  readonly seconds: number
  readonly scenarios: readonly { readonly name: string; readonly figures: readonly LoadFigure[] }[]
}

/** Describes the machine and the software of a measurement in one line. */
export const headlineOf = ({ version, node, cpu, cores, fsyncMs }: ScenarioResult): string =>
  `Weft ${version}, Node ${node}, ${cores} × ${cpu}, fsync ${fsyncMs.toFixed(2)} ms (p50)`

/**
 * Measures a server for about `seconds` seconds. If `server` is null, starts a server for the measurement. This function
 * is the entry point of the folder.
 * @throws StorageError if the server does not start, cannot be reached, or rejects a client
 */
export async function runScenarios(
  server: OnlineServer | null,
  seconds: number,
  onProgress: Progress,
): Promise<ScenarioResult> {
  const all = cpus()
  const open = () => (server === null ? spawnedTarget() : remoteTarget(server))
  onProgress('start', 0)
  return interruptible(open, async (target) => ({
    version: readPackageVersion(),
    node: process.version,
    cpu: all[0]?.model.trim() ?? '',
    cores: all.length,
    fsyncMs: fsyncMs().p50,
    url: server?.url ?? null,
    seconds,
    scenarios: await runAll(target, seconds, onProgress),
  }))
}

async function runAll(
  target: TargetServer,
  seconds: number,
  onProgress: Progress,
): Promise<ScenarioResult['scenarios']> {
  const measured = []
  let done = 0
  for (const { name, share, run } of scenariosFor(seconds)) {
    const start = performance.now()
    const tell = (): void => {
      const part = Math.min(1, (performance.now() - start) / 1000 / (seconds * share))
      onProgress(name, done + share * part)
    }
    tell()
    const telling = setInterval(tell, 100)
    try {
      measured.push({ name, figures: await run(target, seconds * share) })
    } catch (error) {
      if (error instanceof StorageError) throw error
      throw new StorageError(`${name}: ${errorMessage(error)}`, { cause: error })
    } finally {
      clearInterval(telling)
    }
    done += share
  }
  return measured
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs `work`, and then ends the server, also after an error or a signal. The signal handlers are installed
 * before the server starts, because no other process would end the server. After a second signal, this
 * process exits immediately.
 */
async function interruptible<T>(
  open: () => Promise<TargetServer>,
  work: (target: TargetServer) => Promise<T>,
): Promise<T> {
  let target: TargetServer | null = null
  const stop = (signal: (typeof signals)[number]): void => {
    // Exits with the code that shells use for a process that a signal has ended.
    const leave = (): never => process.exit(128 + constants.signals[signal])
    const started = target
    target = null
    if (started === null) leave()
    else void started.end().then(leave, leave)
  }
  for (const signal of signals) process.on(signal, stop)
  try {
    target = await open()
    return await finished(target, work)
  } finally {
    for (const signal of signals) process.off(signal, stop)
  }
}

async function finished<T>(target: TargetServer, work: (target: TargetServer) => Promise<T>): Promise<T> {
  try {
    const done = await work(target)
    await target.end()
    return done
  } catch (error) {
    // An error of `end` is ignored, because the first error is thrown.
    await target.end().catch(() => undefined)
    throw error
  }
}
