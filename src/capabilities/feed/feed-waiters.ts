import { readJson } from '../../core/base/json.ts'
import type { Tenant } from '../../core/model/address.ts'
import { addressSchemas } from '../../core/model/address-schemas.ts'
import { exhausted } from '../../core/quota/limits.ts'
import { tenantName } from '../../core/store/key-encoding.ts'
import type { Services } from '../../rest/services.ts'
import { feedTopic } from './feed-records.ts'
import { feedLimits } from './limits.ts'

/** Maximum time in ms between two reads of a reader that waits. The bus may lose a notice. */
const pollMs = 5_000

type WaitingServices = Pick<Services, 'engine' | 'clock' | 'metrics' | 'stopping'>

/** Lets readers wait for new events of a feed. */
export class FeedWaiters {
  readonly #services: WaitingServices
  readonly #readers = new Map<string, number>()
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(services: WaitingServices) {
    this.#services = services
    const { bus } = services.engine
    bus.subscribe(feedTopic, (message) => {
      this.#wake(tenantName(readJson(addressSchemas.tenant, message)))
      return undefined
    })
    bus.onLoss(() => this.#wakeAll())
    services.stopping.addEventListener('abort', () => this.#wakeAll())
  }

  get isStopped(): boolean {
    return this.#services.stopping.aborted
  }

  /**
   * Counts a reader that may wait. Returns the function that must be called when the reader ends.
   * @throws ApiError RESOURCE_EXHAUSTED if the feed has too many such readers on this node
   */
  enter(tenant: Tenant): () => void {
    const name = tenantName(tenant)
    const readers = this.#readers.get(name) ?? 0
    if (readers >= feedLimits.waiting)
      throw exhausted('feedReadersPerKey', feedLimits.waiting, {
        problem: `the feed has ${feedLimits.waiting} readers that wait on this node`,
        remedy: 'close some, or read without waiting',
        retryAfterSeconds: 5,
      })
    this.#readers.set(name, readers + 1)
    this.#services.metrics.feedReaders.inc()
    return () => {
      const left = (this.#readers.get(name) ?? 1) - 1
      if (left === 0) this.#readers.delete(name)
      else this.#readers.set(name, left)
      this.#services.metrics.feedReaders.dec()
    }
  }

  /**
   * Returns a wait for the next event. Call it before the feed is read, so that an event between the read and the
   * wait ends the wait.
   */
  watch(tenant: Tenant): FeedWait {
    const name = tenantName(tenant)
    let ring: () => void = () => {}
    const rung = new Promise<void>((resolve) => {
      ring = resolve
    })
    const all = this.#waiting.get(name) ?? new Set()
    all.add(ring)
    this.#waiting.set(name, all)
    const end = (): void => {
      all.delete(ring)
      if (all.size === 0 && this.#waiting.get(name) === all) this.#waiting.delete(name)
    }
    return {
      end,
      wait: async (ms, left) => {
        if (this.isStopped || left?.aborted === true) ring()
        left?.addEventListener('abort', ring)
        const cancel = this.#services.clock.after(Math.min(ms, pollMs), ring)
        await rung
        cancel()
        left?.removeEventListener('abort', ring)
        end()
      },
    }
  }

  #wake(name: string): void {
    const waiting = this.#waiting.get(name)
    if (waiting === undefined) return
    this.#waiting.delete(name)
    for (const ring of waiting) ring()
  }

  #wakeAll(): void {
    for (const name of this.#waiting.keys()) this.#wake(name)
  }
}

/** A wait for the next event of a feed. One of its functions must be called. */
interface FeedWait {
  /**
   * Resolves when the feed has new events, or after at most `ms` milliseconds. May resolve earlier.
   * @param left aborted when the reader leaves; the wait then ends
   */
  wait(ms: number, left?: AbortSignal): Promise<void>
  /** Ends the wait without waiting. */
  end(): void
}
