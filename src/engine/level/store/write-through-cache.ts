import { StoreUnavailableError } from '../../engine.ts'

export type CacheState<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'known'; value: T }
  /** The cell is of no use any more: the next one who asks gets another. */
  | { readonly state: 'lost'; readonly error: unknown }

/** What memory knows of one stored thing, changes on their way to the disk included. */
export interface CacheEntry<T, K = Buffer> {
  readonly name: string
  /** Where it is stored. */
  readonly key: K
  knowledge: CacheState<T>
  /** Resolves when loaded. */
  ready: Promise<void>
  /** Those who need it; changes that are not yet durable among them. */
  pins: number
  /** The last of those who take turns on it; null when nobody does. */
  turn: Promise<unknown> | null
}

/**
 * The truth about stored things while somebody depends on it. A cell is loaded once, then changed in memory at the
 * moment a write is added to a group commit, and kept at least until that write is durable: so a decision never
 * needs a read of its own and never overlooks a write under way. Some unpinned ones are kept as a cache.
 */
export class WriteThroughCache<T, K = Buffer> {
  readonly #load: (key: K) => Promise<T>
  readonly #idleMax: number
  readonly #cells = new Map<string, CacheEntry<T, K>>()
  /**
   * Those that have been without pins, the first of them first. Pinned ones may be among them: taking them out and back
   * for each change would cost more than now and then reading again what was dropped too early.
   */
  readonly #idle = new Set<CacheEntry<T, K>>()

  constructor(load: (key: K) => Promise<T>, idleMax: number) {
    this.#load = load
    this.#idleMax = idleMax
  }

  /** The cell of that name, kept until `unpin`; loading if it is new. `key` is what it is stored under. */
  pin(name: string, key: () => K): CacheEntry<T, K> {
    const cell = this.#cells.get(name) ?? this.#start(name, key())
    cell.pins += 1
    return cell
  }

  /** Like `pin`, for what is going to be `value` whatever it was. */
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

  /** Set by whoever adds the write, in the same moment. */
  set(cell: CacheEntry<T, K>, value: T): void {
    if (cell.knowledge.state === 'known') cell.knowledge.value = value
    else cell.knowledge = { state: 'known', value }
  }

  /** The cell, if memory has it, known, and without a write under way. */
  settled(name: string): T | undefined {
    const cell = this.#cells.get(name)
    return cell?.pins === 0 && cell.knowledge.state === 'known' ? cell.knowledge.value : undefined
  }

  /** All that memory knows may be wrong: it is read again. */
  forget(): void {
    const error = new StoreUnavailableError('a write failed and its outcome is unknown')
    for (const cell of this.#cells.values()) cell.knowledge = { state: 'lost', error }
    this.#cells.clear()
    this.#idle.clear()
  }

  #start(name: string, key: K): CacheEntry<T, K> {
    const cell = this.#add(name, key)
    cell.ready = this.#fill(cell)
    // Those who pinned it look at it themselves.
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
      turn: null,
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

  /** One that is in use comes again when it is not. */
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

/** @throws what loading threw; StoreUnavailableError when what was known has been forgotten because a write failed */
export function known<T, K>({ knowledge }: CacheEntry<T, K>): T {
  if (knowledge.state === 'known') return knowledge.value
  if (knowledge.state === 'lost') throw knowledge.error
  throw new Error('the cell has not been waited for')
}

/** Runs `work` when the cell is loaded and those who came earlier have ended. */
export function inEntryOrder<T, K, R>(cell: CacheEntry<T, K>, work: () => Promise<R>): Promise<R> {
  const before = cell.turn ?? cell.ready
  const done = before.then(work)
  const turn = done.then(noop, noop)
  cell.turn = turn
  void turn.then(() => {
    if (cell.turn === turn) cell.turn = null
  })
  return done
}

const noop = (): void => undefined
