import type { Clock } from '../clock.ts'
import type { Metrics } from '../metrics.ts'
import type { DocumentAddress } from '../model/address.ts'
import type { RoomHandle, RoomRegistry } from '../rooms/room/room-registry.ts'
import { mcpLimits } from './mcp-limits.ts'

/** Milliseconds until a subscription opens a room again that has ended. */
const reopenMs = 2_000

/** Milliseconds until a subscription checks the rights again if a check has failed. */
const recheckMs = 5_000

export interface SubscriptionRegistryOptions {
  readonly rooms: Pick<RoomRegistry, 'open'>
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'mcpSubscriptions'>
  /** Called with the URI of a resource that has changed. Returns false if the client cannot get it now. */
  readonly changed: (uri: string) => boolean
  /**
   * Returns the time until which the agent may read the resource, in epoch milliseconds; null if it may not any more.
   * Throws if this cannot be checked now.
   */
  readonly readableUntil: (uri: string) => Promise<number | null>
}

/**
 * The subscriptions of one session. Each holds the room of its editor open, so it also gets the changes of other
 * nodes. Changes within `notificationMs` are one notification. A notification that the client cannot get waits,
 * as one for each resource.
 */
export class SubscriptionRegistry {
  readonly #options: SubscriptionRegistryOptions
  readonly #all = new Map<string, ResourceSubscription>()
  #isStale = false

  constructor(options: SubscriptionRegistryOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#all.size
  }

  has(uri: string): boolean {
    return this.#all.has(uri)
  }

  /**
   * Begins a subscription. Resolves when changes from now on are reported.
   * @param readableUntil time until which the agent may read the resource, in epoch milliseconds
   * @throws the errors of the room
   */
  async add(uri: string, address: DocumentAddress, readableUntil: number): Promise<void> {
    if (this.#all.has(uri)) return
    const subscription = new ResourceSubscription(address, this.#options, () => void this.#report(uri))
    subscription.readableUntil = readableUntil
    this.#all.set(uri, subscription)
    this.#options.metrics.mcpSubscriptions.inc()
    try {
      await subscription.open()
    } catch (error) {
      this.delete(uri)
      throw error
    }
  }

  delete(uri: string): void {
    this.#all.get(uri)?.end()
    if (this.#all.delete(uri)) this.#options.metrics.mcpSubscriptions.dec()
  }

  /** Called when rights may have changed: the next notification of each resource checks them. */
  noteRightsChanged(): void {
    for (const subscription of this.#all.values()) subscription.mustCheck = true
  }

  /** Sends the notifications that have waited. */
  flush(): void {
    for (const [uri, subscription] of this.#all) if (subscription.isPending) void this.#report(uri)
  }

  end(): void {
    this.#isStale = true
    for (const uri of this.#all.keys()) this.delete(uri)
  }

  async #report(uri: string): Promise<void> {
    const subscription = this.#all.get(uri)
    if (subscription === undefined) return
    subscription.isPending = true
    if (subscription.isChecking) return
    while (subscription.mustCheck || this.#options.clock.now() >= subscription.readableUntil) {
      const outcome = await this.#check(uri, subscription)
      if (outcome === 'unknown' || this.#isStale || this.#all.get(uri) !== subscription) return
      if (outcome === 'ended') {
        // The last notification: the next read fails, and the client learns that the resource is gone.
        this.#options.changed(uri)
        return this.delete(uri)
      }
    }
    if (this.#options.changed(uri)) subscription.isPending = false
  }

  /** Checks whether the agent may still read the resource. */
  async #check(uri: string, subscription: ResourceSubscription): Promise<'readable' | 'ended' | 'unknown'> {
    // Set before the check, so that a change of rights during the check causes another one.
    subscription.mustCheck = false
    subscription.isChecking = true
    try {
      const until = await this.#options.readableUntil(uri)
      subscription.readableUntil = until ?? 0
      return until === null ? 'ended' : 'readable'
    } catch {
      subscription.mustCheck = true
      subscription.reportAfter(recheckMs)
      return 'unknown'
    } finally {
      subscription.isChecking = false
    }
  }
}

class ResourceSubscription {
  /** True if the client must still get a notification. */
  isPending = false
  /** True if the rights of the agent may have ended. */
  mustCheck = false
  /** Time until which the agent may read the resource, unless a change of rights ends this earlier. */
  readableUntil = 0
  /** True while a check of the rights runs, which then sends the notification. */
  isChecking = false
  readonly #address: DocumentAddress
  readonly #options: SubscriptionRegistryOptions
  readonly #report: () => void
  #handle: RoomHandle | null = null
  #unfollow = (): void => {}
  #cancelTimer: (() => void) | null = null
  #cancelReopening = (): void => {}
  #hasEnded = false

  constructor(address: DocumentAddress, options: SubscriptionRegistryOptions, report: () => void) {
    this.#address = address
    this.#options = options
    this.#report = report
  }

  async open(): Promise<void> {
    const handle = await this.#options.rooms.open(this.#address)
    if (this.#hasEnded) return handle.release()
    this.#handle = handle
    this.#unfollow = handle.room.follow({
      committed: () => this.reportAfter(mcpLimits.notificationMs),
      ended: () => {
        this.#close()
        this.reportAfter(mcpLimits.notificationMs)
        this.#reopenLater()
      },
    })
  }

  end(): void {
    this.#hasEnded = true
    this.#cancelTimer?.()
    this.#cancelReopening()
    this.#close()
  }

  /** Sends a notification after a time, or together with one that is already due. */
  reportAfter(ms: number): void {
    if (this.#hasEnded || this.#cancelTimer !== null) return
    this.#cancelTimer = this.#options.clock.after(ms, () => {
      this.#cancelTimer = null
      this.#report()
    })
  }

  /** A room ends if the document is deleted, or after an error. The agent may have lost it. */
  #reopenLater(): void {
    this.mustCheck = true
    if (this.#hasEnded) return
    this.#cancelReopening = this.#options.clock.after(reopenMs, () => {
      this.open().catch(() => this.#reopenLater())
    })
  }

  #close(): void {
    this.#unfollow()
    this.#handle?.release()
    this.#handle = null
  }
}
