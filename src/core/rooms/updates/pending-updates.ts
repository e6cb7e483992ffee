import type { Clock } from '../../base/clock.ts'
import type { EndClient, MemoryClaim } from '../../quota/memory-account.ts'
import { memoryOf, missingClocks } from '../../update/summary.ts'
import type { ClientChange, Member } from './change.ts'

/**
 * Memory in bytes of the objects that represent one update, without the bytes of the update and its summary.
 */
const objectBytes = 768
/** Maximum number of unused bytes in the buffer of a kept update. If there are more, the update is copied. */
const spareBytesMax = 256

/** Returns an upper bound of the memory in bytes that an update with its summary takes. */
export const memoryOfUpdate = ({ bytes, summary }: ClientChange): number =>
  objectBytes + bytes.length + memoryOf(summary)

/**
 * Returns the update with a copy of its bytes, because the bytes from a socket are a view into the buffer of
 * one whole read. Returns the update itself if a copy would save little memory.
 */
export const withOwnBytes = (incoming: ClientChange): ClientChange =>
  incoming.bytes.buffer.byteLength <= incoming.bytes.length + spareBytesMax
    ? incoming
    : { ...incoming, bytes: new Uint8Array(incoming.bytes) }

/** An update that depends on updates that the room does not have. */
export interface PendingUpdate {
  readonly incoming: ClientChange
  readonly until: number
  /** Dependencies of the update, as pairs of client and clock. */
  readonly missing: readonly number[]
  /**
   * Index in `missing` of the first pair that the document has not reached. Clocks only grow, so pairs before
   * this index need no further comparison.
   */
  at: number
  /** Number of failed tries to integrate the update. */
  tries: number
}

/**
 * Opens a claim for the memory that the updates of a room take. The memory ledger calls `drop` when the
 * updates of all rooms take too much memory; `drop` must then drop the updates.
 */
type OpenClaim = (drop: EndClient) => MemoryClaim

/** Time in milliseconds within which a member must send the missing updates. */
const missingUpdateTimeoutMs = 10_000
/**
 * Maximum number of pending updates of a room. The number is small because the room checks each pending
 * update again after every accepted update.
 */
const pendingMax = 200
/**
 * Maximum number of tries to integrate a pending update before it is dropped. Without this limit, an update
 * whose parts depend on each other in a circle would be tried until it expires.
 */
const triesMax = 3

/**
 * The updates of a room that wait for missing dependencies. Pending updates are neither stored nor sent. An
 * update is dropped after `missingUpdateTimeoutMs`. When the limit for bytes or for the number is exceeded,
 * the oldest updates are dropped. The sender still has a dropped update and offers it again at its next
 * handshake.
 */
export class PendingUpdateBuffer {
  #updates: PendingUpdate[] = []
  #bytes = 0
  readonly #bytesMax: number
  readonly #clock: Clock
  readonly #open: OpenClaim
  /**
   * The claim for the memory of the updates; null until an update waits. It is null again after the ledger
   * has ended the claim because the updates of all rooms exceeded their memory.
   */
  #claim: MemoryClaim | null = null

  constructor(bytesMax: number, clock: Clock, open: OpenClaim) {
    this.#bytesMax = bytesMax
    this.#clock = clock
    this.#open = open
  }

  get size(): number {
    return this.#updates.length
  }

  hasOf(member: Member): boolean {
    return this.#updates.some(({ incoming }) => incoming.from === member)
  }

  add(incoming: ClientChange, clocks: ReadonlyMap<number, number>): void {
    const kept = withOwnBytes(incoming)
    const missing = missingClocks(incoming.summary, clocks)
    this.#updates.push({
      incoming: kept,
      until: this.#clock.now() + missingUpdateTimeoutMs,
      missing,
      at: 0,
      tries: 1,
    })
    this.#bytes += incoming.bytes.length
    while (this.#bytes > this.#bytesMax || this.#updates.length > pendingMax) this.#dropOldest()
    this.#count()
  }

  /**
   * Drops all updates, because the room is closed or the pending updates of all rooms take too much memory.
   */
  clear(): void {
    this.#replace([])
  }

  /**
   * Removes and returns the updates whose dependencies the document has reached. Drops updates that have
   * waited too long, and updates of members that may no longer write.
   */
  take(clocks: ReadonlyMap<number, number>): PendingUpdate[] {
    const now = this.#clock.now()
    const alive = this.#updates.filter(
      ({ until, incoming }) => until > now && incoming.from.right?.fence !== null,
    )
    const taken = alive.filter((update) => isReached(update, clocks))
    if (taken.length > 0 || alive.length < this.#updates.length)
      this.#replace(alive.filter((update) => !taken.includes(update)))
    return taken
  }

  /** Puts back updates that could not be integrated yet. Drops updates after `triesMax` tries. */
  restore(updates: readonly PendingUpdate[]): void {
    for (const update of updates) update.tries += 1
    const kept = updates.filter(({ tries }) => tries <= triesMax)
    if (kept.length > 0) this.#replace([...kept, ...this.#updates])
  }

  #replace(updates: PendingUpdate[]): void {
    this.#updates = updates
    this.#bytes = updates.reduce((sum, update) => sum + update.incoming.bytes.length, 0)
    this.#count()
  }

  #count(): void {
    if (this.#bytes === 0 && this.#claim === null) return
    this.#claim ??= this.#open(() => {
      this.#claim = null
      this.clear()
    })
    this.#claim.set(this.#updates.reduce((sum, update) => sum + memoryOfHeld(update), 0))
  }

  #dropOldest(): void {
    this.#bytes -= this.#updates.shift()?.incoming.bytes.length ?? 0
  }
}

/** Bytes of memory for a number in an array. */
const numberBytes = 8

const memoryOfHeld = ({ incoming, missing }: PendingUpdate): number =>
  memoryOfUpdate(incoming) + numberBytes * missing.length

function isReached(update: PendingUpdate, clocks: ReadonlyMap<number, number>): boolean {
  const { missing } = update
  while (update.at < missing.length) {
    if ((clocks.get(missing[update.at] as number) ?? 0) < (missing[update.at + 1] as number)) return false
    update.at += 2
  }
  return true
}
