import { asBuffer } from '../../base/bytes.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Engine } from '../engine.ts'
import type { ByteRange } from '../key-encoding.ts'
import { createEngine } from '../level/key-value-engine.ts'
import type { KeyValuePair, ReadSnapshot, ScanOptions } from '../level/store/reads.ts'
import type { BatchOperation, Store } from '../level/store/store.ts'
import { SortedMap } from '../sorted-map.ts'

/**
 * Opens an engine that keeps all data in the memory of this process. All data is lost when the process exits.
 * The engine is for tests and trials. It has all properties of the engine LevelDB except durability.
 */
export async function openMemoryEngine({
  clock = systemClock,
}: {
  readonly clock?: Clock
} = {}): Promise<Engine> {
  const store = new MemoryStore()
  const { engine, close } = createEngine({ store, open: async () => store, sync: false, clock })
  let closing: Promise<unknown> | null = null
  return {
    ...engine,
    dump: () => null,
    close: async () => {
      closing ??= close()
      await closing
    },
  }
}

/** The values that were replaced since a snapshot, by the names of their keys. Null: the key was absent. */
type ReplacedValues = Map<string, Buffer | null>

class MemoryStore implements Store {
  readonly #values = new SortedMap<Buffer>()
  readonly #snapshots = new Set<ReplacedValues>()

  async get(key: Uint8Array): Promise<Buffer | undefined> {
    return this.#values.get(asBuffer(key))
  }

  async *pages(range: ByteRange, options?: ScanOptions): AsyncGenerator<readonly KeyValuePair[]> {
    yield this.#page(range, options)
  }

  async firstPage(range: ByteRange, options?: ScanOptions): Promise<readonly KeyValuePair[]> {
    return this.#page(range, options)
  }

  async write(operations: readonly BatchOperation[]): Promise<void> {
    for (const operation of operations) {
      const key = asBuffer(operation.key)
      if (this.#snapshots.size > 0) this.#keepReplaced(key)
      if (operation.value === null) this.#values.delete(key)
      else this.#values.set(key, asBuffer(operation.value))
    }
  }

  snapshot(): ReadSnapshot {
    const replaced: ReplacedValues = new Map()
    this.#snapshots.add(replaced)
    const firstPage = async (range: ByteRange, options?: ScanOptions) =>
      replaced.size === 0 ? this.#page(range, options) : this.#pageBefore(replaced, range, options)
    return {
      get: async (key) => {
        const before = replaced.get(nameOf(asBuffer(key)))
        return before === undefined ? this.get(key) : (before ?? undefined)
      },
      firstPage,
      async *pages(range, options) {
        yield await firstPage(range, options)
      },
      close: async () => void this.#snapshots.delete(replaced),
    }
  }

  async compactTables(): Promise<void> {
    // There are no files.
  }

  async tableBytes(range: ByteRange): Promise<number> {
    return this.#page(range).reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  }

  async close(): Promise<void> {
    // The data stays for an engine that opens the store again.
  }

  #page(range: ByteRange, { reverse = false, limit = -1 }: ScanOptions = {}): KeyValuePair[] {
    const found: KeyValuePair[] = []
    for (const pair of this.#values.range(range, reverse)) {
      if (found.length === limit) break
      found.push(pair)
    }
    return found
  }

  /** Returns a page as it was at a snapshot. */
  #pageBefore(
    replaced: ReplacedValues,
    range: ByteRange,
    { reverse = false, limit = -1 }: ScanOptions = {},
  ): readonly KeyValuePair[] {
    const pairs = this.#page(range).filter(([key]) => !replaced.has(nameOf(key)))
    for (const [name, value] of replaced) {
      const key = Buffer.from(name, 'latin1')
      const isInRange = Buffer.compare(key, range.gte) >= 0 && Buffer.compare(key, range.lt) < 0
      if (value !== null && isInRange) pairs.push([key, value])
    }
    pairs.sort(([a], [b]) => (reverse ? Buffer.compare(b, a) : Buffer.compare(a, b)))
    return limit === -1 ? pairs : pairs.slice(0, limit)
  }

  #keepReplaced(key: Buffer): void {
    const name = nameOf(key)
    for (const replaced of this.#snapshots)
      if (!replaced.has(name)) replaced.set(name, this.#values.get(key) ?? null)
  }
}

const nameOf = (key: Buffer): string => key.toString('latin1')
