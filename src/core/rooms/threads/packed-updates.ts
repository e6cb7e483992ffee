/** Updates (V1) in one buffer. A thread gets many small updates in this form, because each buffer costs time. */
export interface PackedUpdates {
  /** All updates, one after the other. It has a buffer of its own. */
  readonly bytes: Uint8Array
  /** Number of bytes of each update. */
  readonly lengths: Uint32Array
}

/** Copies updates into one buffer. Takes linear time. */
export function packUpdates(updates: readonly Uint8Array[]): PackedUpdates {
  const lengths = Uint32Array.from(updates, ({ length }) => length)
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  let end = 0
  for (const update of updates) {
    bytes.set(update, end)
    end += update.length
  }
  return { bytes, lengths }
}

/** Returns the updates, which are views into the buffer. */
export function unpackUpdates({ bytes, lengths }: PackedUpdates): Uint8Array[] {
  let end = 0
  return Array.from(lengths, (length) => {
    end += length
    return bytes.subarray(end - length, end)
  })
}
