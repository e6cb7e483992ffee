import { type OpenStore, openLevelStore } from '../../../src/core/store/level/store/store.ts'

/**
 * A real LevelDB whose disk can pause. During a pause, the store accepts writes, but they reach the disk only
 * after `release`.
 */
export interface HeldStore {
  readonly openStore: OpenStore
  hold(): void
  release(): void
}

export function heldStore(): HeldStore {
  let gate: Promise<void> | null = null
  let open: () => void = () => {}
  const openStore: OpenStore = async (path) => {
    const store = await openLevelStore(path)
    return {
      get: (key) => store.get(key),
      getNow: (keys) => store.getNow(keys),
      pages: (range, options) => store.pages(range, options),
      firstPage: (range, options) => store.firstPage(range, options),
      snapshot: () => store.snapshot(),
      compactTables: () => store.compactTables(),
      tableBytes: (range) => store.tableBytes(range),
      close: () => store.close(),
      write: async (operations, sync) => {
        await gate
        return store.write(operations, sync)
      },
    }
  }
  return {
    openStore,
    hold() {
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
    release() {
      open()
      gate = null
    },
  }
}
