import * as Y from 'yjs'
import { encodedPerSlice } from './integration-limits.ts'

/**
 * Encodes the whole state (V1) of a Y.Doc in slices, with the same result as `Y.encodeStateAsUpdate`. Returns null if
 * its structs change meanwhile. The caller must notice any other change.
 * @param bytesMax upper bound of the size of the state; a higher one takes more memory, a lower one another copy
 */
export function* encodingSlices(doc: Y.Doc, bytesMax: number): Generator<undefined, Uint8Array | null> {
  const encoder = new StateEncoder(bytesMax)
  let structsLeft = encodedPerSlice.structs
  let sliceEnd = encodedPerSlice.bytes
  const clients = [...doc.store.clients].sort(([a], [b]) => b - a)
  encoder.writeLen(clients.length)
  for (const [client, structs] of clients) {
    const count = structs.length
    encoder.writeLen(count)
    encoder.writeClient(client)
    encoder.writeLen(0)
    let clock = 0
    for (const struct of structs) {
      // The number of structs is already written, so none may be split or merged between two slices.
      if (struct.id.clock !== clock) return null
      struct.write(encoder, 0)
      clock += struct.length
      structsLeft -= 1
      if (structsLeft > 0 && encoder.length < sliceEnd) continue
      yield
      structsLeft = encodedPerSlice.structs
      sliceEnd = encoder.length + encodedPerSlice.bytes
    }
    if (structs.length !== count) return null
  }
  encoder.writeDeletions(doc)
  return encoder.bytes
}

/** Characters from which a string is encoded where it belongs, which saves two copies and their memory. */
const longFrom = 10_000
/** Maximum bytes of the length that precedes a string. */
const lengthBytesMax = 5

/** Bytes of the smallest buffer. The encoder doubles a buffer that is full. */
const bytesMin = 100

/** Writes into one buffer, as long as that has space. */
class StateEncoder extends Y.UpdateEncoderV1 {
  constructor(bytesMax: number) {
    super()
    // Clearing the memory could take longer than a slice.
    this.restEncoder.cbuf = new Uint8Array(Buffer.allocUnsafeSlow(Math.max(bytesMax, bytesMin)).buffer)
  }

  get length(): number {
    return this.restEncoder.bufs.reduce((sum, { length }) => sum + length, this.restEncoder.cpos)
  }

  #hasSpace(bytes: number): boolean {
    return this.restEncoder.cpos + bytes <= this.restEncoder.cbuf.length
  }

  override writeString(text: string): void {
    if (text.length < longFrom) return super.writeString(text)
    const bytes = Buffer.byteLength(text)
    if (!this.#hasSpace(bytes + lengthBytesMax)) return super.writeString(text)
    this.writeLen(bytes)
    const { restEncoder } = this
    restEncoder.cpos += Buffer.from(restEncoder.cbuf.buffer).write(text, restEncoder.cpos)
  }

  /** Writes the delete set, which follows the structs: that of an update without structs. */
  writeDeletions(doc: Y.Doc): void {
    const deletions = Y.encodeStateAsUpdate(doc, Y.encodeStateVector(doc)).subarray(1)
    const { restEncoder } = this
    const { bufs, cbuf, cpos } = restEncoder
    const hasSpace = this.#hasSpace(deletions.length)
    if (hasSpace) cbuf.set(deletions, cpos)
    else bufs.push(cbuf.subarray(0, cpos), deletions)
    restEncoder.cpos = hasSpace ? cpos + deletions.length : 0
  }

  /** The written bytes, in memory of at most 1.125 times their size. */
  get bytes(): Uint8Array {
    const { bufs, cbuf, cpos } = this.restEncoder
    const isFull = bufs.length === 0 && cbuf.length - cpos <= cpos / 8
    return isFull ? cbuf.subarray(0, cpos) : Buffer.concat([...bufs, cbuf.subarray(0, cpos)])
  }
}
