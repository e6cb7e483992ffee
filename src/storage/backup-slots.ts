/** Backups that a server makes at the same time: each holds a moment of the store, whose old tables stay meanwhile. */
export const backupsAtOnceMax = 2

/** Bounds backups under way. */
export class BackupSlots {
  #free = backupsAtOnceMax

  /** The same bytes, which have a slot until they end or nobody wants them any more; null when there is none. */
  take(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> | null {
    if (this.#free === 0) return null
    this.#free -= 1
    const iterator = chunks[Symbol.asyncIterator]()
    let state: 'taken' | 'released' = 'taken'
    const release = (): void => {
      if (state === 'taken') this.#free += 1
      state = 'released'
    }
    const next = async (): Promise<IteratorResult<Uint8Array>> => {
      try {
        const result = await iterator.next()
        if (result.done === true) release()
        return result
      } catch (error) {
        release()
        throw error
      }
    }
    // Also of what was never begun, where a generator would notice nothing.
    const end = async (): Promise<IteratorResult<Uint8Array>> => {
      release()
      await iterator.return?.()
      return { done: true, value: undefined }
    }
    return { [Symbol.asyncIterator]: () => ({ next, return: end }) }
  }
}
