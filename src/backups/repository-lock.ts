import { createHash, randomBytes } from 'node:crypto'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import type { Clock } from '../clock.ts'
import { readJsonOrNull } from '../json.ts'
import { StorageError } from '../storage/storage-error.ts'
import type { ObjectStore } from './object-store.ts'

/** Time in ms without a renewal after which a lock is stale. */
export const lockStaleMs = 3_600_000
export const lockRenewMs = 300_000
/** Time in ms until the next attempt after a renewal failed. */
const retryMs = 30_000
/** Time in ms without a renewal after which the holder stops its work, long before the lock is stale. */
const lockHeldMs = lockStaleMs - 2 * lockRenewMs
const attemptsMax = 4
const lockPrefix = 'locks/'
const givenUpMax = 100

const lockSchema = v.looseObject({
  work: v.string(),
  host: v.string(),
  /** Names the running system and its process numbers; '' if they cannot be distinguished. */
  system: v.string(),
  pid: v.number(),
  startedAt: v.number(),
  renewedAt: v.number(),
})
type LockRecord = v.InferOutput<typeof lockSchema>

/**
 * The right to write to a repository, or to delete from it, for one process at a time. Each process writes a
 * lock object of its own, then lists all of them, and gives up its own if there is another. So two processes
 * never both continue, provided that a list has all objects that were written before.
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
   * @param work noun for messages, such as "backup"
   * @throws StorageError if another process has the lock
   */
  static async take(store: ObjectStore, clock: Clock, work: string): Promise<RepositoryLock> {
    const now = clock.now()
    const own = { work, host: hostname(), system: await systemId(), pid: process.pid }
    for (let attempt = 1; ; attempt++) {
      const lock = new RepositoryLock(store, clock, { ...own, startedAt: now, renewedAt: clock.now() })
      const before = await lock.#otherHolder()
      if (before !== null) throw inUse(before)
      const other = await lock.#writeAndCompare().catch(async (error: unknown) => {
        await lock.release().catch(() => undefined)
        throw error
      })
      if (other === null) {
        lock.#schedule(lockRenewMs)
        return lock
      }
      // Two processes have written their locks at the same time. Both give up, and wait for different times.
      await lock.release()
      if (attempt === attemptsMax) throw inUse(other)
      await sleep(Math.random() * 500 * 2 ** attempt)
    }
  }

  /** Call before each write and deletion. @throws StorageError if another process may have the lock */
  check(): void {
    const isOld = this.#clock.now() - this.#record.renewedAt > lockHeldMs
    if (this.#state === 'held' && !isOld) return
    throw new StorageError(`the lock of ${this.#store.name} was lost: it could not be renewed in time`)
  }

  /** Like `check`, but also checks that the lock object exists. Call before a backup becomes visible. */
  async confirm(): Promise<void> {
    this.check()
    if ((await this.#store.get(this.#name)) === null) this.#state = 'lost'
    this.check()
  }

  /** If the lock cannot be deleted, it is deleted by the next `take` of this process. @throws StorageError */
  async release(): Promise<void> {
    this.#state = 'released'
    RepositoryLock.#giveUp(this.#name)
    this.#cancelRenewal()
    await this.#renewal
    await this.#store.delete(this.#name)
  }

  static #giveUp(name: string): void {
    const names = RepositoryLock.#givenUp.add(name)
    for (const oldest of names) {
      if (names.size <= givenUpMax) return
      names.delete(oldest)
    }
  }

  /** Returns the lock of another process that was written before or at the same time. */
  async #writeAndCompare(): Promise<LockRecord | null> {
    await this.#write()
    return this.#otherHolder()
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
    const renewedAt = this.#clock.now()
    await this.#write({ ...this.#record, renewedAt })
    this.#record = { ...this.#record, renewedAt }
  }

  #write(record = this.#record): Promise<void> {
    return this.#store.put(this.#name, Buffer.from(JSON.stringify(record)))
  }

  /** Returns the lock of another process, and deletes stale locks and those that this process has given up. */
  async #otherHolder(): Promise<LockRecord | null> {
    for await (const { name } of this.#store.list(lockPrefix)) {
      if (name === this.#name) continue
      if (RepositoryLock.#givenUp.has(name)) {
        await this.#store.delete(name).catch(() => undefined)
        continue
      }
      const bytes = await this.#store.get(name)
      if (bytes === null) continue
      const record = readJsonOrNull(lockSchema, bytes)
      if (record !== null && !(await this.#isStale(record))) return record
      await this.#store.delete(name)
    }
    return null
  }

  async #isStale(lock: LockRecord): Promise<boolean> {
    // A time in the future is that of a wrong clock.
    if (Math.abs(this.#clock.now() - lock.renewedAt) > lockStaleMs) return true
    return lock.system !== '' && lock.system === this.#record.system && !isRunning(lock.pid)
  }
}

const inUse = ({ work, host, pid, startedAt }: LockRecord): StorageError =>
  new StorageError(
    `the repository is in use: a ${work} of process ${pid} on ${host} since ${new Date(startedAt).toISOString()}`,
    { hint: 'try again when it has ended; the lock of a process that was killed ends after an hour' },
  )

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
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
