import { cpus } from 'node:os'
import { readVersion } from '../../config/version.ts'
import { messageOf } from '../../errors.ts'
import { type Progress, StorageError } from '../../storage/problem.ts'
import type { ServingServer } from '../../transfer/serving.ts'
import { connecting } from './connecting.ts'
import { crowd } from './crowd.ts'
import { fsyncMs } from './disk.ts'
import { replacing } from './replacing.ts'
import { rooms } from './rooms.ts'
import type { Figure, Scenario } from './scenario.ts'
import { ownTarget, type Target, targetAt } from './target.ts'

/** Memory is told best of a server that has done nothing yet. */
const scenarios: readonly Scenario[] = [connecting, crowd, rooms, replacing]

export interface Measured {
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
export async function measure(
  server: ServingServer | null,
  seconds: number,
  onProgress: Progress,
): Promise<Measured> {
  const all = cpus()
  const disk = fsyncMs().p50
  onProgress('start', 0)
  const target = server === null ? await ownTarget() : await targetAt(server)
  return {
    version: readVersion(),
    node: process.version,
    cpu: all[0]?.model.trim() ?? '',
    cores: all.length,
    fsyncMs: disk,
    url: server?.url ?? null,
    seconds,
    scenarios: await interruptible(target, () => runAll(target, seconds, onProgress)),
  }
}

async function runAll(target: Target, seconds: number, onProgress: Progress): Promise<Measured['scenarios']> {
  const measured = []
  let done = 0
  for (const { name, share, run } of scenarios) {
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
      throw new StorageError(`${name}: ${messageOf(error)}`, { cause: error })
    } finally {
      clearInterval(telling)
    }
    done += share
  }
  return measured
}

/** Ends what was started, also where it is interrupted. */
async function interruptible<T>(target: Target, work: () => Promise<T>): Promise<T> {
  const interrupted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new StorageError('interrupted'))
    process.once('SIGINT', stop).once('SIGTERM', stop)
  })
  try {
    return await Promise.race([work(), interrupted])
  } finally {
    await target.end()
  }
}
