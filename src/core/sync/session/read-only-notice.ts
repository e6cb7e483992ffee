import type { Room } from '../../rooms/room/room.ts'
import type { UpdateSummary } from '../../update/summary.ts'

/**
 * Maximum number of updates without insertions that are compared with the document. Each comparison can take
 * as long as reading the document.
 */
const comparisonsMax = 10

/**
 * Decides when a viewer is notified that its edits are dropped: at its first edit, and at the first edit
 * after each change of its role. An update that the document already has does not count as an edit; clients
 * send such updates, for example, at each handshake.
 */
export class ReadOnlyNotice {
  #isSent = false
  #comparisons = 0

  /** Permits another notice. Must be called when the role has changed. */
  reset(): void {
    this.#isSent = false
    this.#comparisons = 0
  }

  /**
   * Returns whether the client must be notified now, because this update was dropped. Returns true only once
   * until `reset` is called.
   */
  isDue(room: Room, kind: 'update' | 'offer', bytes: Uint8Array, summary: UpdateSummary): boolean {
    if (this.#isSent || !this.#isEdit(room, kind, bytes, summary)) return false
    this.#isSent = true
    return true
  }

  #isEdit(room: Room, kind: 'update' | 'offer', bytes: Uint8Array, summary: UpdateSummary): boolean {
    const { clients, deletes } = summary
    if (clients.some(({ client, to }) => to > (room.state.clocks.get(client) ?? 0))) return true
    // An offer contains all deletions that the client has, so deletions in an offer do not prove an edit.
    if (kind === 'offer' || clients.length > 0 || deletes === 0) return false
    this.#comparisons += 1
    return this.#comparisons <= comparisonsMax && !room.contains(bytes, summary)
  }
}
