import { StoreUnavailableError } from '../../engine.ts'

export type CacheState<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'known'; value: T }
  /** The cell is unusable: the next caller gets a new one. */
  | { readonly state: 'lost'; readonly error: unknown }

/** Cached state of one stored item, including changes that are being written. */
export interface CacheEntry<T, K = Buffer> {
  readonly name: string
  /** Key in the store. */
  readonly key: K
  knowledge: CacheState<T>
  /** Resolves when loaded. */
  ready: Promise<void>
  /** Number of users of the cell, including changes that are not yet durable. */
  pins: number
  /** The last one of the calls that are serialized on this cell; null without any. */
  lastCall: Promise<unknown> | null
}

/**
 * Current values of stored items while a caller depends on them. A cell is loaded once, then changed in
 * memory when a write is added to a group commit, and kept at least until that write is durable. So a
 * decision needs no read of its own and never misses a write in progress. Some unpinned cells stay as a
 * cache.
 */
export class WriteThroughCache<T, K = Buffer> {
  readonly #load: (key: K) => Promise<T>
  readonly #idleMax: number
  readonly #cells = new Map<string, CacheEntry<T, K>>()
  /**
   * Cells that have been unpinned, the earliest first. Some may be pinned again: removing and adding them for
   * each change would cost more than an occasional read of a cell that was evicted too early.
   */
  readonly #idle = new Set<CacheEntry<T, K>>()

  constructor(load: (key: K) => Promise<T>, idleMax: number) {
    this.#load = load
    this.#idleMax = idleMax
  }

  /** Returns the cell of that name, pinned until `unpin`; loads a new one. `key` is its key in the store. */
  pin(name: string, key: () => K): CacheEntry<T, K> {
    const cell = this.#cells.get(name) ?? this.#start(name, key())
    cell.pins += 1
    return cell
  }

  /** Like `pin`, for an item that gets `value` independently of its current value. */
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

  /** Sets the value. Call it at the moment the write is added. */
  set(cell: CacheEntry<T, K>, value: T): void {
    if (cell.knowledge.state === 'known') cell.knowledge.value = value
    else cell.knowledge = { state: 'known', value }
  }

  /** Returns the value if it is cached, loaded, and without a write in progress. */
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
    // The callers that pinned it handle the rejection.
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

  /** A cell in use is added again when it is unpinned. */
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

/** Runs `work` when the cell is loaded and earlier calls on it have ended. */
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
