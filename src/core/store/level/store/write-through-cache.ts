import { StoreUnavailableError } from '../../engine.ts'

type CacheState<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'known'; value: T }
  /**
   * The cell is unusable, because its value could not be loaded or may be wrong. The next caller gets a new
   * cell.
   */
  | { readonly state: 'lost'; readonly error: unknown }

/** The `ready` of all cells that need no load. */
const loaded = Promise.resolve()

/** A cell: the cached state of one stored item. It includes changes that are still being written. */
export interface CacheEntry<T, K = Buffer> {
  readonly name: string
  readonly key: K
  knowledge: CacheState<T>
  /** Resolves when the value is loaded. */
  ready: Promise<void>
  /** Number of users of the cell. A change that is not durable yet also counts as a user. */
  pins: number
  /**
   * The last of the calls that run one after the other on this cell (see `inEntryOrder`). Null if there was
   * no such call.
   */
  lastCall: Promise<unknown> | null
}

/**
 * Caches the current values of stored items while callers use them. A cell is loaded once. When a write is
 * added to a group commit, the cell changes in memory, and it stays cached at least until that write is
 * durable. So a caller that decides on the basis of a value does not have to read the value first, and never
 * misses a write in progress. A limited number of unpinned cells (`idleMax`) also stays cached.
 */
export class WriteThroughCache<T, K = Buffer> {
  readonly #load: (key: K) => Promise<T>
  readonly #idleMax: number
  readonly #isSmall: (value: T) => boolean
  readonly #cells = new Map<string, CacheEntry<T, K>>()
  /**
   * Cells that have been unpinned, in the order in which they were unpinned. Some of these cells may be
   * pinned again. Keeping this list exact would require a removal and an addition for each change. That would
   * cost more than an occasional read of a cell that was evicted too early.
   */
  readonly #idle = new Set<CacheEntry<T, K>>()

  /** @param isSmall returns whether a value may stay cached while its cell is not pinned; default: always */
  constructor(load: (key: K) => Promise<T>, idleMax: number, isSmall: (value: T) => boolean = () => true) {
    this.#load = load
    this.#idleMax = idleMax
    this.#isSmall = isSmall
  }

  /**
   * Returns the cell of an item and pins the cell until `unpin`. If the cell is new, it is loaded. `key`
   * returns the key of the item in the store.
   */
  pin(name: string, key: () => K): CacheEntry<T, K> {
    const cell = this.#cells.get(name) ?? this.#start(name, key())
    cell.pins += 1
    return cell
  }

  /** Adds a pin to a cell that is pinned. */
  pinAgain(cell: CacheEntry<T, K>): void {
    cell.pins += 1
  }

  /**
   * Like `pin`, but for a caller that sets the item to `value` whatever its current value is. The cell is not
   * loaded.
   */
  hold(name: string, key: K, value: T): CacheEntry<T, K> {
    const cell = this.#cells.get(name) ?? this.#add(name, key)
    cell.pins += 1
    this.set(cell, value)
    return cell
  }

  /**
   * Caches the value that the caller reads, unless the cell exists. Call this method in the tick in which the
   * read starts. A caller that pins the cell meanwhile waits for the read. If the read fails, the cache reads
   * the value itself.
   */
  share(name: string, key: K, read: () => Promise<T>): void {
    if (this.#cells.has(name)) return
    const cell = this.#add(name, key)
    this.#startFill(
      cell,
      read().catch(() => this.#load(key)),
    )
    this.#becomeIdle(cell)
  }

  /** Caches a value that the caller has read in this tick, unless the cell exists. */
  note(name: string, key: K, value: T): void {
    if (this.#cells.has(name)) return
    const cell = this.#add(name, key)
    this.set(cell, value)
    this.#becomeIdle(cell)
  }

  unpin(cell: CacheEntry<T, K>): void {
    cell.pins -= 1
    if (cell.pins > 0 || cell.knowledge.state === 'lost') return
    this.#becomeIdle(cell)
  }

  /** Sets the value of a cell. Call this method when the write is added to the group commit. */
  set(cell: CacheEntry<T, K>, value: T): void {
    if (cell.knowledge.state === 'known') cell.knowledge.value = value
    else cell.knowledge = { state: 'known', value }
  }

  /**
   * Returns the value of an item if it is loaded and its cell is not pinned, which means that no write is in
   * progress. Otherwise returns undefined.
   */
  settled(name: string): T | undefined {
    const cell = this.#cells.get(name)
    return cell?.pins === 0 && cell.knowledge.state === 'known' ? cell.knowledge.value : undefined
  }

  /** Evicts all cells, because any cached value may be wrong. */
  forget(): void {
    const error = new StoreUnavailableError('a write failed and its outcome is unknown')
    for (const cell of this.#cells.values()) cell.knowledge = { state: 'lost', error }
    this.#cells.clear()
    this.#idle.clear()
  }

  #start(name: string, key: K): CacheEntry<T, K> {
    const cell = this.#add(name, key)
    this.#startFill(cell, this.#load(key))
    return cell
  }

  #startFill(cell: CacheEntry<T, K>, read: Promise<T>): void {
    cell.ready = this.#fill(cell, read)
    // The callers that pinned the cell handle the rejection, so it must not count as unhandled.
    cell.ready.catch(() => undefined)
  }

  #becomeIdle(cell: CacheEntry<T, K>): void {
    if (cell.knowledge.state === 'known' && !this.#isSmall(cell.knowledge.value)) return this.#drop(cell)
    this.#idle.add(cell)
    if (this.#idle.size > this.#idleMax) this.#dropFirst()
  }

  #add(name: string, key: K): CacheEntry<T, K> {
    const cell: CacheEntry<T, K> = {
      name,
      key,
      knowledge: { state: 'loading' },
      ready: loaded,
      pins: 0,
      lastCall: null,
    }
    this.#cells.set(name, cell)
    return cell
  }

  async #fill(cell: CacheEntry<T, K>, read: Promise<T>): Promise<void> {
    try {
      const value = await read
      if (cell.knowledge.state === 'loading') cell.knowledge = { state: 'known', value }
    } catch (error) {
      if (cell.knowledge.state === 'known') return
      this.#drop(cell)
      cell.knowledge = { state: 'lost', error }
      throw error
    }
  }

  /**
   * Evicts the unpinned cell that was unpinned first. A cell that is pinned again stays cached, but is
   * removed from the list; `unpin` adds it again.
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

/** Returns whether the caller must wait for `ready`. */
export const isLoading = <T, K>({ knowledge }: CacheEntry<T, K>): boolean => knowledge.state === 'loading'

/**
 * Returns the value of a loaded cell.
 * @throws the error of loading the cell, or StoreUnavailableError if the value was evicted because a write
 * failed
 */
export function known<T, K>({ knowledge }: CacheEntry<T, K>): T {
  if (knowledge.state === 'known') return knowledge.value
  if (knowledge.state === 'lost') throw knowledge.error
  throw new Error('the cell has not been waited for')
}

/** Runs `work` when the cell is loaded and all earlier calls of `inEntryOrder` for this cell have ended. */
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
