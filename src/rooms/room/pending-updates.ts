import type { Clock } from '../../clock.ts'
import type { EndClient, MemoryClaim } from '../../quota/memory-account.ts'
import { memoryOf, missingClocks, type UpdateSummary } from '../../update/summary.ts'
import type { Member } from './member.ts'

/** A vetted update that has arrived and waits for the end of the tick. */
export interface IncomingUpdate {
  readonly bytes: Uint8Array
  readonly summary: UpdateSummary
  readonly from: Member
  /**
   * An `offer` is the reply to a state vector of the server: the room has most of it, and its delete set is
   * always complete.
   */
  readonly kind: 'update' | 'offer'
  /**
   * Called when the whole update is in the document, which is before the update is durable; null: no
   * callback. Must not throw.
   */
  readonly onApplied: (() => void) | null
}

/** Bytes of the objects that represent one update, in addition to its bytes and its summary. */
const objectBytes = 768
/** Maximum number of unused bytes in the buffer of an update that is kept. */
const spareBytesMax = 256

/** Returns the maximum number of bytes of memory that an update with its summary takes. */
export const memoryOfUpdate = ({ bytes, summary }: IncomingUpdate): number =>
  objectBytes + bytes.length + memoryOf(summary)

/**
 * Returns the update with a copy of its bytes, unless the copy would save little. The bytes that a socket
 * delivers are a view into the buffer of one whole read.
 */
export const withOwnBytes = (incoming: IncomingUpdate): IncomingUpdate =>
  incoming.bytes.buffer.byteLength <= incoming.bytes.length + spareBytesMax
    ? incoming
    : { ...incoming, bytes: new Uint8Array(incoming.bytes) }

/** An update that depends on updates that the room does not have. */
export interface PendingUpdate {
  readonly incoming: IncomingUpdate
  readonly until: number
  /** Dependencies of the update, as pairs of client and clock. */
  readonly missing: readonly number[]
  /**
   * Index of the first pair that the document has not reached. Clocks only grow, so each reached pair is
   * compared once.
   */
  at: number
  /** Number of failed tries to integrate the update. */
  tries: number
}

/**
 * Opens the claim for the memory of the updates of a room. The memory ledger calls `drop` to end the claim.
 */
export type OpenClaim = (drop: EndClient) => MemoryClaim

/** Maximum time in ms for a member to send the missing updates. */
export const missingUpdateTimeoutMs = 10_000
/**
 * Maximum number of pending updates of a room. Each pending update is checked again after every accepted
 * update.
 */
const heldMax = 200
/**
 * Maximum number of tries before an update is dropped. An update whose parts depend on each other in a circle
 * never becomes complete.
 */
const triesMax = 3

/**
 * Updates that wait for missing dependencies. They are neither stored nor sent. An update is dropped after
 * `missingUpdateTimeoutMs`; the oldest updates are dropped when the limits for bytes or number are exceeded.
 * The sender still has a dropped update and offers it again at its next handshake.
 */
export class PendingUpdateBuffer {
  #updates: PendingUpdate[] = []
  #bytes = 0
  readonly #bytesMax: number
  readonly #clock: Clock
  readonly #open: OpenClaim
  /**
   * Null until an update waits, and again after the ledger ended the claim because all rooms together
   * exceeded their memory.
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

  add(incoming: IncomingUpdate, clocks: ReadonlyMap<number, number>): void {
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
    while (this.#bytes > this.#bytesMax || this.#updates.length > heldMax) this.#dropOldest()
    this.#count()
  }

  /**
   * Drops all updates, because the room is closed or the pending updates of all rooms take too much memory.
   */
  clear(): void {
    this.#replace([])
  }

  /**
   * Removes and returns the updates that may have become complete. Drops updates that have waited too long,
   * and updates of members that may no longer write.
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

  /** Puts back updates that still lack dependencies, unless they have been tried too often. */
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
