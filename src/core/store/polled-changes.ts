import { isSameBytes } from '../base/bytes.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { Semaphore } from '../base/semaphore.ts'
import type { ForeignChanges, Key, Kv } from './engine.ts'
import { keyName } from './key-encoding.ts'

/** Interval of the reads of each watched value, in ms. */
const pollMs = 3_000
/** Maximum number of values that are read in parallel. */
const readsAtOnce = 32

interface Watched {
  readonly part: Key
  readonly key: Key
  readonly changed: () => void
  /** Number of callers that watch this value. */
  watchers: number
  /** The value that was read last. Undefined before the first read, null if the key is absent. */
  value: Buffer | null | undefined
}

/**
 * Reads the watched values at regular intervals, and reports changes. The first read of a value is also
 * reported as a change, because its watcher may have read an older value before.
 */
export class PolledChanges implements ForeignChanges {
  readonly maxAgeMs = pollMs
  readonly #kv: Pick<Kv, 'get'>
  readonly #clock: Clock
  readonly #log: Log | undefined
  readonly #watched = new Map<string, Watched>()
  readonly #reads = new Semaphore({ total: readsAtOnce })
  #cancel: (() => void) | null = null
  #isReading = false

  constructor(kv: Pick<Kv, 'get'>, clock: Clock, log?: Log) {
    this.#kv = kv
    this.#clock = clock
    this.#log = log
  }

  watch(part: Key, key: Key, changed: () => void): () => void {
    const name = keyName([keyName(part), keyName(key)])
    const watched = this.#watched.get(name) ?? { part, key, changed, watchers: 0, value: undefined }
    watched.watchers += 1
    this.#watched.set(name, watched)
    this.#schedule()
    return () => {
      watched.watchers -= 1
      if (watched.watchers === 0) this.#watched.delete(name)
    }
  }

  /** Stops reading and removes all watchers. */
  end(): void {
    this.#watched.clear()
    this.#cancel?.()
  }

  #schedule(): void {
    if (this.#cancel !== null || this.#isReading || this.#watched.size === 0) return
    this.#cancel = this.#clock.after(pollMs, () => {
      this.#cancel = null
      this.#isReading = true
      void this.#readAll().finally(() => {
        this.#isReading = false
        this.#schedule()
      })
    })
  }

  async #readAll(): Promise<void> {
    const reads = [...this.#watched.values()].map((watched) => this.#reads.run('', () => this.#read(watched)))
    const failed = (await Promise.allSettled(reads)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected')
      this.#log?.warn({ err: failed.reason }, 'could not poll for changes of other nodes; retrying')
  }

  async #read(watched: Watched): Promise<void> {
    const [found = null] = await this.#kv.get(watched.part, [watched.key])
    const value = found === null ? null : Buffer.from(found)
    const isSame = watched.value !== undefined && isSameBytes(watched.value, value)
    watched.value = value
    if (!isSame && watched.watchers > 0) watched.changed()
  }
}
