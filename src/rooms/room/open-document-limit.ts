import { KeyedCounter } from '../../quota/keyed-counter.ts'
import { exhausted } from '../../quota/limits.ts'

/** An open document of a workspace that can be closed while it has no user. */
interface Idle {
  retire(): void
}

/** Places come free as documents are left. */
const retryAfterSeconds = 5

/**
 * Limits the open documents of each workspace. Unused documents are a cache: at the limit, the document that has been
 * idle for the longest time is closed before an open is rejected. The limit counts by workspace and not by API key,
 * because a workspace can create any number of keys and would raise its limit with them.
 */
export class OpenDocumentLimit {
  readonly #max: number
  readonly #open: KeyedCounter
  readonly #idle = new Map<string, Set<Idle>>()

  /** @param max open documents of one workspace; 0: no limit */
  constructor(max: number) {
    this.#max = max
    this.#open = new KeyedCounter(max)
  }

  /**
   * Counts a document that is being opened. The returned function ends the count. While an idle document is closing to
   * make room, the count exceeds the limit by one.
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

  /** Registers a document without users. The returned function takes that back. */
  rest(workspaceId: string, idle: Idle): () => void {
    const all = this.#idle.get(workspaceId) ?? new Set()
    this.#idle.set(workspaceId, all.add(idle))
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
