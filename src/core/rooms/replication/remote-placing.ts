import type { DocumentAddress } from '../../model/address.ts'
import { readUpdate } from '../../update/read-update.ts'
import type { UpdateSummary } from '../../update/summary.ts'
import type { DocumentState, PlacedIntegration } from '../document/document-state.ts'
import { loopStepsMax } from '../document/integration-limits.ts'
import type { WriteLock } from '../edits/write-lock.ts'
import type { RemoteAppend } from '../log/read-log-since.ts'
import type { ThreadPool } from '../threads/thread-pool.ts'

/**
 * Maximum number of tries to integrate an update on a thread. A try fails if the document changes before it
 * ends.
 */
const triesMax = 3

export interface PlacingRoom {
  readonly address: DocumentAddress
  readonly state: DocumentState
  readonly lock: WriteLock
  /** Applies the arrived updates. */
  readonly endTick: () => void
}

/**
 * Integrates updates of other nodes on threads, if the updates are too expensive for the event loop. These
 * threads do no other work: jobs on other threads may wait for the log, and reading the log waits for these
 * updates.
 */
export class RemotePlacing {
  readonly #room: PlacingRoom
  readonly #threads: ThreadPool
  #placed: PlacedIntegration | null = null
  #release = (): void => {}

  constructor(room: PlacingRoom, threads: ThreadPool) {
    this.#room = room
    this.#threads = threads
  }

  /**
   * Splits updates into parts that are applied one after the other. Each update that may be expensive gets
   * its own part.
   */
  split(foreign: readonly RemoteAppend[]): readonly (readonly RemoteAppend[])[] {
    const parts: RemoteAppend[][] = []
    let isOpen = false
    for (const each of foreign) {
      const mayJoin = each.is === 'update' && this.#room.state.isInexpensive(summaryOf(each))
      if (isOpen && mayJoin) parts.at(-1)?.push(each)
      else parts.push([each])
      isOpen = mayJoin
    }
    return parts
  }

  /**
   * Returns whether a part must be integrated on a thread. All earlier parts must already be applied.
   * @throws DocumentDamagedError, DocumentExpensiveError
   */
  isExpensive([first, ...others]: readonly RemoteAppend[]): boolean {
    if (first === undefined || others.length > 0) return false
    return this.#room.state.predict(first.update.bytes, summaryOf(first)) > loopStepsMax
  }

  /**
   * Integrates an expensive part on a thread. The document stays locked until `end` is called, so that it
   * does not change while the thread works on its copy.
   * @throws ApiError RESOURCE_EXHAUSTED if too many jobs wait for a thread
   */
  async place([foreign]: readonly RemoteAppend[]): Promise<void> {
    if (foreign === undefined) return
    const { bytes: update } = foreign.update
    const { address, state, lock, endTick } = this.#room
    this.#release = lock.hold(endTick)
    for (let tries = 1; tries <= triesMax; tries += 1) {
      const { revision } = state
      const placed = await this.#threads.use(address, (thread) =>
        thread.run({ is: 'place', updates: [state.encode()], update, schema: null, isStored: true }),
      )
      if (state.revision !== revision) continue
      this.#placed = placed
      return
    }
  }

  /**
   * Removes and returns the result of the thread for the part that is applied next; null if the event loop
   * must integrate this part.
   */
  take(): PlacedIntegration | null {
    const placed = this.#placed
    this.#placed = null
    return placed
  }

  /** Releases the document. Must be called when the part has been applied, or when the room is closed. */
  end(): void {
    this.#placed = null
    this.#release()
  }
}

const summaryOf = ({ update }: RemoteAppend): UpdateSummary => readUpdate(update.bytes)
