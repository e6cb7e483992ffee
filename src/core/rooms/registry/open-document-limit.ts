import { memoized } from '../../base/maps.ts'
import { KeyedCounter } from '../../quota/keyed-counter.ts'
import { exhausted } from '../../quota/limits.ts'

/** An open document without users. `retire` closes it, to make room for another document. */
interface Idle {
  retire(): void
}

/**
 * Seconds after which rejected clients should try again. By then, users may have left other documents, which
 * can be closed.
 */
const retryAfterSeconds = 5

/**
 * Limits the number of open documents of each workspace. Documents without users stay open as a cache. At the
 * limit, the document that has been idle for the longest time is closed. If no document is idle, the open is
 * rejected. The limit counts by workspace instead of by API key, because a workspace could raise its limit by
 * creating more keys.
 */
export class OpenDocumentLimit {
  readonly #max: number
  readonly #open: KeyedCounter
  readonly #idle = new Map<string, Set<Idle>>()

  /** @param max maximum number of open documents of one workspace; 0: no limit */
  constructor(max: number) {
    this.#max = max
    this.#open = new KeyedCounter(max)
  }

  /**
   * Counts a document that is being opened. Returns a function that removes the document from the count.
   * While an idle document is closing to make room, the count exceeds the limit by one.
   * @throws ApiError RESOURCE_EXHAUSTED if all documents are in use
   */
  enter(workspaceId: string): () => void {
    if (this.#open.isFull(workspaceId) && !this.#retireOne(workspaceId)) {
      throw exhausted('maxDocumentsPerWorkspace', this.#max, {
        problem: `too many open documents of this workspace: maxDocumentsPerWorkspace is ${this.#max}`,
        remedy: `close some, try again after ${retryAfterSeconds} s`,
        retryAfterSeconds,
      })
    }
    return this.#open.enter(workspaceId)
  }

  /** Registers a document that no longer has users. Returns a function that removes the registration. */
  rest(workspaceId: string, idle: Idle): () => void {
    const all = memoized(this.#idle, workspaceId, () => new Set<Idle>()).add(idle)
    return () => {
      all.delete(idle)
      if (all.size === 0 && this.#idle.get(workspaceId) === all) this.#idle.delete(workspaceId)
    }
  }

  #retireOne(workspaceId: string): boolean {
    const [oldest] = this.#idle.get(workspaceId) ?? []
    if (oldest === undefined) return false
    oldest.retire()
    return true
  }
}
