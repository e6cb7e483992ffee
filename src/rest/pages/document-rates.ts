import type { Clock } from '../../core/base/clock.ts'
import type { Room } from '../../core/rooms/room/room.ts'

/** An open editor, as the status page lists it. */
interface BusyDocument {
  readonly workspaceId: string
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
  readonly connections: number
  /**
   * Stored updates per second since the last measurement; null if the room was not open then. Includes the updates
   * that other nodes have stored.
   */
  readonly updatesPerSecond: number | null
  readonly sizeBytes: number
}

/** Minimum time in ms between two measurements. A status that is requested earlier has the rates of the last one. */
const measureEveryMs = 500
const listedMax = 50

interface Measured {
  readonly head: number
  readonly at: number
  readonly perSecond: number | null
}

/**
 * Measures the open rooms by the growth of their logs. A measurement reads each open room. It runs only when
 * an operator requests the status.
 */
export class DocumentRates {
  readonly #rooms: () => Iterable<Room>
  readonly #clock: Clock
  readonly #measured = new WeakMap<Room, Measured>()

  constructor(rooms: () => Iterable<Room>, clock: Clock) {
    this.#rooms = rooms
    this.#clock = clock
  }

  /** Returns the documents with the most updates, then those with the most connections. */
  list(): readonly BusyDocument[] {
    const found: BusyDocument[] = []
    for (const room of this.#rooms()) {
      const { workspaceId, organizationId, documentId, editorId } = room.address
      found.push({
        workspaceId,
        organizationId,
        documentId,
        editorId,
        connections: room.memberCount,
        updatesPerSecond: this.#rateOf(room),
        sizeBytes: room.state.sizeBytes,
      })
      // The list stays short, so that sorting it does not delay other work.
      if (found.length >= 2 * listedMax) keepBusiest(found)
    }
    keepBusiest(found)
    return found
  }

  #rateOf(room: Room): number | null {
    const now = this.#clock.now()
    const before = this.#measured.get(room)
    const passed = before === undefined ? Number.POSITIVE_INFINITY : now - before.at
    if (before !== undefined && passed >= 0 && passed < measureEveryMs) return before.perSecond
    const { head } = room.commits
    const perSecond =
      before === undefined || passed <= 0 ? null : (Math.max(0, head - before.head) * 1000) / passed
    this.#measured.set(room, { head, at: now, perSecond })
    return perSecond
  }
}

function keepBusiest(documents: BusyDocument[]): void {
  documents.sort(
    (one, other) =>
      (other.updatesPerSecond ?? 0) - (one.updatesPerSecond ?? 0) || other.connections - one.connections,
  )
  documents.length = Math.min(documents.length, listedMax)
}
