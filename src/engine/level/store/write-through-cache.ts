import { StoreUnavailableError } from '../../engine.ts'

export type CacheState<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'known'; value: T }
  /** The cell is unusable. The next caller gets a new cell. */
  | { readonly state: 'lost'; readonly error: unknown }

/** A cell: the cached state of one stored item, including changes that are still being written. */
export interface CacheEntry<T, K = Buffer> {
  readonly name: string
  /** Key in the store. */
  readonly key: K
  knowledge: CacheState<T>
  /** Resolves when the value is loaded. */
  ready: Promise<void>
  /** Number of users of the cell, including changes that are not yet durable. */
  pins: number
  /**
   * The last of the calls that run one after the other on this cell (see `inEntryOrder`); null without such a
   * call.
   */
  lastCall: Promise<unknown> | null
}

/**
 * Cache of the current values of stored items while a caller depends on them. A cell is loaded once. It is
 * changed in memory when a write is added to a group commit, and it is kept at least until that write is
 * durable. So a decision does not need a read of its own, and it never misses a write in progress. A limited
 * number of unpinned cells (`idleMax`) stays cached.
 */
export class WriteThroughCache<T, K = Buffer> {
  readonly #load: (key: K) => Promise<T>
  readonly #idleMax: number
  readonly #cells = new Map<string, CacheEntry<T, K>>()
  /**
   * Cells that have been unpinned, in the order in which they were unpinned. Some of them may be pinned
   * again. Removing and adding cells for each change would cost more than the occasional read of a cell that
   * was evicted too early.
   */
  readonly #idle = new Set<CacheEntry<T, K>>()

  constructor(load: (key: K) => Promise<T>, idleMax: number) {
    this.#load = load
    this.#idleMax = idleMax
  }

  /**
   * Returns the cell of an item and pins it until `unpin`. A new cell is loaded; `key` returns its key in the
   * store.
   */
  pin(name: string, key: () => K): CacheEntry<T, K> {
    const cell = this.#cells.get(name) ?? this.#start(name, key())
    cell.pins += 1
    return cell
  }

  /** Like `pin`, for a caller that sets the item to `value` regardless of its current value. */
  hold(name: string, key: K, value: T): CacheEntry<T, K> {
    const cell = this.#cells.get(name) ?? this.#add(name, key)
    cell.pins += 1
    this.set(cell, value)
    return cell
  }

  unpin(cell: CacheEntry<T, K>): void {
    cell.pins -= 1
    if (cell.pins > 0 || cell.knowledge.state === 'lost') return
    this.#idle.add(cell)
    if (this.#idle.size > this.#idleMax) this.#dropFirst()
  }

  /** Sets the value of a cell. Call it at the moment the write is added to the group commit. */
  set(cell: CacheEntry<T, K>, value: T): void {
    if (cell.knowledge.state === 'known') cell.knowledge.value = value
    else cell.knowledge = { state: 'known', value }
  }

  /** Returns the value if it is loaded and the cell is not pinned, so that no write is in progress. */
  settled(name: string): T | undefined {
    const cell = this.#cells.get(name)
    return cell?.pins === 0 && cell.knowledge.state === 'known' ? cell.knowledge.value : undefined
  }

  /** Evicts everything, because any cached value may be wrong. */
  forget(): void {
    const error = new StoreUnavailableError('a write failed and its outcome is unknown')
    for (const cell of this.#cells.values()) cell.knowledge = { state: 'lost', error }
    this.#cells.clear()
    this.#idle.clear()
  }

  #start(name: string, key: K): CacheEntry<T, K> {
    const cell = this.#add(name, key)
    cell.ready = this.#fill(cell)
    // The callers that pinned the cell handle the rejection.
    cell.ready.catch(() => undefined)
    return cell
  }

  #add(name: string, key: K): CacheEntry<T, K> {
    const cell: CacheEntry<T, K> = {
      name,
      key,
      knowledge: { state: 'loading' },
      ready: Promise.resolve(),
      pins: 0,
      lastCall: null,
    }
    this.#cells.set(name, cell)
    return cell
  }

  async #fill(cell: CacheEntry<T, K>): Promise<void> {
    try {
      const value = await this.#load(cell.key)
      if (cell.knowledge.state === 'loading') cell.knowledge = { state: 'known', value }
    } catch (error) {
      if (cell.knowledge.state === 'known') return
      this.#drop(cell)
      cell.knowledge = { state: 'lost', error }
      throw error
    }
  }

  /**
   * Evicts the unpinned cell that was unpinned first. A pinned cell is only removed from the list; `unpin`
   * adds it again.
   */
  #dropFirst(): void {
    for (const first of this.#idle) {
      if (first.pins === 0) return this.#drop(first)
      this.#idle.delete(first)
    }
  }

  #drop(cell: CacheEntry<T, K>): void {
    if (this.#cells.get(cell.name) === cell) this.#cells.delete(cell.name)
    this.#idle.delete(cell)
  }
}

/**
 * Returns the value of a loaded cell.
 * @throws the error of loading; StoreUnavailableError if the value was evicted because a write failed
 */
export function known<T, K>({ knowledge }: CacheEntry<T, K>): T {
  if (knowledge.state === 'known') return knowledge.value
  if (knowledge.state === 'lost') throw knowledge.error
  throw new Error('the cell has not been waited for')
}

/** Runs `work` when the cell is loaded and all earlier calls of this function for the cell have ended. */
export function inEntryOrder<T, K, R>(cell: CacheEntry<T, K>, work: () => Promise<R>): Promise<R> {
  const before = cell.lastCall ?? cell.ready
  const done = before.then(work)
  const call = done.then(noop, noop)
  cell.lastCall = call
  void call.then(() => {
    if (cell.lastCall === call) cell.lastCall = null
  })
  return done
}

const noop = (): void => undefined
