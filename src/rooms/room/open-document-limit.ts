import { KeyedCounter } from '../../quota/keyed-counter.ts'
import { exhausted } from '../../quota/limits.ts'

/** Something that a workspace has open, and that can be let go while nobody uses it. */
interface Idle {
  retire(): void
}

/** Places come free as documents are left. */
const retryAfterSeconds = 5

/**
 * Bounds the documents that each workspace has open. Those that nobody uses are a cache: where there are as many as may
 * be, they make room, the longest idle first, before anybody is refused. By workspace and not by API key: a workspace
 * makes as many keys as it likes, and would make itself room with them.
 */
export class OpenDocumentLimit {
  readonly #max: number
  readonly #open: KeyedCounter
  readonly #idle = new Map<string, Set<Idle>>()

  /** @param max open documents of one workspace; 0 is no limit */
  constructor(max: number) {
    this.#max = max
    this.#open = new KeyedCounter(max)
  }

  /**
   * Counts a document that is being opened; the returned function counts it off. Where another one makes room there is
   * one too many until it has gone.
   * @throws ApiError RESOURCE_EXHAUSTED when all are in use
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

  /** Nobody uses it any more; the returned function takes that back. */
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
