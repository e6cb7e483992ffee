import { type OpenStore, openLevelStore, type Store } from '../../../src/core/store/level/store/store.ts'

/** State of the disk for writes: working; full; or `silent`, when it writes and returns an error. */
type Weather = 'fine' | 'full' | 'silent'

const noSpace = () =>
  Object.assign(new Error('IO error: 000005.log: No space left on device'), { code: 'LEVEL_IO_ERROR' })

/**
 * A real LevelDB whose writes can fail or be delayed. As in LevelDB itself, a handle that has failed once
 * stays failed, even when the disk has room again.
 */
export class FaultyStore {
  weather: Weather = 'fine'
  /** Number of requested batches. */
  writes = 0
  #gate: Promise<void> = Promise.resolve()
  #open: () => void = () => {}
  #read: (key: Uint8Array) => Promise<void> = () => Promise.resolve()

  /** Delays writes from now on. */
  hold(): void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve
    })
  }

  release(): void {
    this.#open()
    this.#gate = Promise.resolve()
  }

  /** Delays reads of keys that contain `marker` until the returned function is called. */
  holdReads(marker: string): () => void {
    let end = (): void => undefined
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#read = (key) => (Buffer.from(key).includes(marker) ? ended : Promise.resolve())
    return end
  }

  readonly openStore: OpenStore = async (path) => {
    const store = await openLevelStore(path)
    let hasFailed = false
    const write: Store['write'] = async (operations, sync) => {
      this.writes += 1
      await this.#gate
      if (this.weather === 'silent') await store.write(operations, sync)
      if (this.weather !== 'fine') hasFailed = true
      if (hasFailed) throw noSpace()
      await store.write(operations, sync)
    }
    const get: Store['get'] = async (key) => {
      await this.#read(key)
      return store.get(key)
    }
    return { ...store, get, write }
  }
}
