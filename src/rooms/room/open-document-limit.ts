import { KeyedCounter } from '../../quota/keyed-counter.ts'
import { exhausted } from '../../quota/limits.ts'

/** An open document without users. It can be closed to make room for another document. */
interface Idle {
  retire(): void
}

/** Seconds after which clients should try again: documents are closed when their users leave. */
const retryAfterSeconds = 5

/**
 * Limits the number of open documents of each workspace. Unused documents are a cache: at the limit, the
 * document that has been idle for the longest time is closed, and only if there is none, an open is rejected.
 * The limit counts by workspace and not by API key, because a workspace could raise its limit by creating
 * more keys.
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
   * Counts a document that is being opened. The returned function removes it from the count. While an idle
   * document is closing to make room, the count exceeds the limit by one.
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

  /** Registers a document without users. The returned function removes the registration. */
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
