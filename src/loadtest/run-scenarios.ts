import { constants, cpus } from 'node:os'
import { readPackageVersion } from '../config/package-version.ts'
import { errorMessage } from '../errors.ts'
import { type Progress, StorageError } from '../storage/storage-error.ts'
import type { OnlineServer } from '../transfer/documents/rest-client.ts'
import { broadcastScenario } from './broadcast-scenario.ts'
import { connectScenario } from './connect-scenario.ts'
import { fsyncMs } from './fsync-time.ts'
import { latencyScenario } from './latency-scenario.ts'
import { replaceScenario } from './replace-scenario.ts'
import type { Figure, Scenario } from './scenario.ts'
import { remoteTarget, spawnedTarget, type TargetServer } from './target-server.ts'

/** Who wants it quickly gets it with fewer: to let many in takes time, too. */
const quickSeconds = 5

/** Memory is told best of a server that has done nothing yet. */
function scenariosFor(seconds: number): readonly Scenario[] {
  const count = seconds < quickSeconds ? 10 : 100
  return [connectScenario, broadcastScenario(count), latencyScenario(count), replaceScenario]
}

export interface ScenarioResult {
  readonly version: string
  readonly node: string
  readonly cpu: string
  readonly cores: number
  /** Of this machine: of one write to its disk. */
  readonly fsyncMs: number
  /** Null: a server of its own was measured. */
  readonly url: string | null
  readonly seconds: number
  readonly scenarios: readonly { readonly name: string; readonly figures: readonly Figure[] }[]
}

/**
 * Measures a server, or one that is started for it, for about so many seconds.
 * @throws StorageError where it does not start, cannot be reached or refuses
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
 * Ends what was started, also where it fails or is interrupted: from before it starts, because nobody else ends a server
 * of our own. Who is told a second time waits no longer.
 */
async function interruptible<T>(
  open: () => Promise<TargetServer>,
  work: (target: TargetServer) => Promise<T>,
): Promise<T> {
  let target: TargetServer | null = null
  const stop = (signal: (typeof signals)[number]): void => {
    // As a shell says it of who was interrupted.
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
    // What it failed of is what is to be told.
    await target.end().catch(() => undefined)
    throw error
  }
}
