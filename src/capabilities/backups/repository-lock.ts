import { createHash, randomBytes } from 'node:crypto'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { pauseAfter } from '../../core/base/backoff.ts'
import type { Clock } from '../../core/base/clock.ts'
import { readJsonOrNull } from '../../core/base/json.ts'
import * as s from '../../core/base/schema.ts'
import type { ObjectStore } from './object-store.ts'
import { StorageError } from './storage/storage-error.ts'

/** Time in ms without a renewal after which a lock may be stale. */
export const lockStaleMs = 3_600_000
export const lockRenewMs = 300_000
/** Time in ms in which a running process renews its lock, also if a renewal fails. */
export const lockObserveMs = 2 * lockRenewMs
/** Time in ms until the next attempt after a renewal failed. */
const retryMs = 30_000
/** Time in ms without a renewal after which the holder stops its work, long before the lock is stale. */
const lockHeldMs = lockStaleMs - 2 * lockRenewMs
const attemptsMax = 4
/** Pauses after two processes have written their locks at the same time. Random, so that one of them is first. */
const conflictPauses = { firstMs: 1_000, maxMs: 4_000, jitter: 1 }
const lockPrefix = 'locks/'
const givenUpMax = 100

const lockSchema = s.object({
  work: s.string,
  host: s.string,
  /** Names the running system and its process numbers; '' if they cannot be distinguished. */
  system: s.string,
  pid: s.number,
  /** Start of the process, because numbers of processes are used again; '' if it is unknown. */
  processStart: s.string,
  startedAt: s.number,
  renewedAt: s.number,
})
type LockRecord = s.TypeOf<typeof lockSchema>

/**
 * The right to write to a repository, or to delete from it, for one process at a time. Each process writes a
 * lock object of its own, then lists all of them, and gives up its own if there is another. So two processes
 * never both continue, provided that a list has all objects that were written before. Clocks may differ: a lock
 * of another machine that seems old is stale only if it does not change while it is observed.
 */
export class RepositoryLock {
  /**
   * Names of the last locks that this process has given up. Their objects can remain, or appear later, if the place
   * was not available.
   */
  static readonly #givenUp = new Set<string>()
  readonly #store: ObjectStore
  readonly #clock: Clock
  readonly #name: string
  #record: LockRecord
  /** Time of the last renewal by the monotonic clock. */
  #renewedAfterMs = performance.now()
  #state: 'held' | 'lost' | 'released' = 'held'
  #cancelRenewal: () => void = () => undefined
  #renewal: Promise<void> = Promise.resolve()

  private constructor(store: ObjectStore, clock: Clock, record: LockRecord) {
    this.#store = store
    this.#clock = clock
    this.#name = `${lockPrefix}${randomBytes(12).toString('hex')}`
    this.#record = record
  }

  /**
   * Waits while it observes a lock that seems old.
   * @param work noun for messages, such as "backup"
   * @param signal ends the wait with an error
   * @throws StorageError if another process has the lock
   */
  static async take(
    store: ObjectStore,
    clock: Clock,
    work: string,
    signal?: AbortSignal,
  ): Promise<RepositoryLock> {
    const now = clock.now()
    const [system, processStart] = [await systemId(), (await startOf(process.pid)) ?? '']
    const own = {
      work,
      host: hostname(),
      system,
      pid: process.pid,
      processStart,
      startedAt: now,
      renewedAt: now,
    }
    for (let attempt = 1; ; attempt++) {
      const lock = new RepositoryLock(store, clock, own)
      const before = await lock.#otherHolder((ms) => waitFor(clock, ms, signal))
      if (before !== null) throw inUse(before)
      // Two processes that have just written their locks do not observe each other.
      const written = lock.#write().then(() => lock.#otherHolder(null))
      const other = await written.catch(async (error: unknown) => {
        await lock.release().catch(() => undefined)
        throw error
      })
      if (other === null) {
        lock.#schedule(lockRenewMs)
        return lock
      }
      // Two processes have written their locks at the same time. Both give up.
      await lock.release()
      if (attempt === attemptsMax) throw inUse(other)
      await sleep(pauseAfter(conflictPauses, attempt))
    }
  }

  /** Call before each write and deletion. @throws StorageError if another process may have the lock */
  check(): void {
    const ages = [this.#clock.now() - this.#record.renewedAt, performance.now() - this.#renewedAfterMs]
    const isOld = Math.max(...ages) > lockHeldMs
    if (this.#state === 'held' && !isOld) return
    throw new StorageError(`the lock of ${this.#store.name} was lost: it could not be renewed in time`)
  }

  /**
   * Like `check`, but also checks that the lock object exists. Call before a backup becomes visible, and
   * before deletions.
   */
  async confirm(): Promise<void> {
    this.check()
    if ((await this.#store.get(this.#name)) === null) this.#state = 'lost'
    this.check()
  }

  /** If the lock cannot be deleted, it is deleted by the next `take` of this process. @throws StorageError */
  async release(): Promise<void> {
    this.#state = 'released'
    const [oldest] = RepositoryLock.#givenUp.add(this.#name)
    if (RepositoryLock.#givenUp.size > givenUpMax) RepositoryLock.#givenUp.delete(oldest ?? '')
    this.#cancelRenewal()
    await this.#renewal
    await this.#store.delete(this.#name)
  }

  #schedule(ms: number): void {
    if (this.#state !== 'held') return
    this.#cancelRenewal = this.#clock.after(ms, () => {
      this.#renewal = this.#renew().then(
        () => this.#schedule(lockRenewMs),
        () => this.#schedule(retryMs),
      )
    })
  }

  async #renew(): Promise<void> {
    if ((await this.#store.get(this.#name)) === null) this.#state = 'lost'
    if (this.#state !== 'held') return
    await this.#write()
  }

  async #write(): Promise<void> {
    const renewedAfterMs = performance.now()
    const record = { ...this.#record, renewedAt: this.#clock.now() }
    await this.#store.put(this.#name, Buffer.from(JSON.stringify(record)))
    this.#record = record
    this.#renewedAfterMs = renewedAfterMs
  }

  /**
   * Returns the lock of another process, and deletes stale locks and those that this process has given up.
   * @param wait resolves after a time in ms; null: a lock that seems old counts as one of another process
   */
  async #otherHolder(wait: ((ms: number) => Promise<void>) | null): Promise<LockRecord | null> {
    const old: { readonly name: string; readonly bytes: Buffer; readonly record: LockRecord }[] = []
    for await (const { name } of this.#store.list(lockPrefix)) {
      if (name === this.#name) continue
      if (RepositoryLock.#givenUp.has(name)) {
        await this.#store.delete(name).catch(() => undefined)
        continue
      }
      const bytes = await this.#store.get(name)
      if (bytes === null) continue
      const record = readJsonOrNull(lockSchema, bytes)
      const state = record === null ? 'ended' : await this.#stateOf(record)
      if (record === null || state === 'ended') await this.#store.delete(name)
      else if (state === 'held' || wait === null) return record
      else old.push({ name, bytes, record })
    }
    if (old.length > 0) await wait?.(lockObserveMs)
    for (const { name, bytes, record } of old) {
      const found = await this.#store.get(name)
      if (found?.equals(bytes) === false) return record
      await this.#store.delete(name)
    }
    return null
  }

  /** `old`: by the clocks, which may differ, it was not renewed in time. */
  async #stateOf(lock: LockRecord): Promise<'held' | 'old' | 'ended'> {
    if (lock.system === '' || lock.system !== this.#record.system)
      return Math.abs(this.#clock.now() - lock.renewedAt) > lockStaleMs ? 'old' : 'held'
    return (await isRunning(lock)) ? 'held' : 'ended'
  }
}

const inUse = ({ work, host, pid, startedAt }: LockRecord): StorageError =>
  new StorageError(
    `the repository is in use: a ${work} of process ${pid} on ${host} since ${new Date(startedAt).toISOString()}`,
    { hint: 'try again when it has ended; the lock of a process that was killed ends after about an hour' },
  )

/** Waits, and keeps the process alive. @throws StorageError after the signal */
async function waitFor(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  const alive = setInterval(() => undefined, lockRenewMs)
  let end = (): void => undefined
  await new Promise<void>((resolve) => {
    const cancel = clock.after(ms, resolve)
    end = () => {
      cancel()
      resolve()
    }
    if (signal?.aborted === true) end()
    signal?.addEventListener('abort', end)
  })
  signal?.removeEventListener('abort', end)
  clearInterval(alive)
  if (signal?.aborted === true) throw new StorageError('the wait for the lock was interrupted')
}

async function isRunning({ pid, processStart }: LockRecord): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const start = await startOf(pid)
  return start === null || processStart === '' || start === processStart
}

/** Returns the start of a process as Linux counts it; null if it is unknown. */
async function startOf(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  // The name of the program, in parentheses, may contain spaces.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}

/** Identifies the running Linux kernel and the namespace of process numbers; '' on other systems. */
async function systemId(): Promise<string> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    const namespace = await readlink('/proc/self/ns/pid')
    return createHash('sha256').update(`${boot} ${namespace}`).digest('hex')
  } catch {
    return ''
  }
}
