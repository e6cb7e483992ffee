import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import { ByteReader } from './byte-reader.ts'
import { hasOrigin, hasParentSub, hasRightOrigin, namedTypes, struct } from './item-content.ts'
import { MalformedUpdateError } from './malformed.ts'
import { partsOfClient, runSteps, StepMeter, type Steps } from './outline.ts'
import { clientsMax, structsMax } from './read-update.ts'
import { skipAny } from './values.ts'

/**
 * Maximum bytes of an update in the encoding V1 that comes from the encoding V2. V2 stores repeated values once,
 * so that few bytes of V2 can stand for any number of bytes of V1.
 */
export const convertedBytesMax = 16 * 1024 * 1024

/**
 * Maximum number of structs that need no bytes of V2, and maximum number for each byte. 100,000 structs take about
 * 20 ms. Only documents with very many equal structs, such as empty maps, exceed the limit.
 */
const freeStructsMax = 100_000
const structsPerByte = 16

/**
 * Converts an update from the encoding V2 to V1, struct by struct, with the decoder and encoder of Yjs. The
 * conversion of Yjs has no limit for the work and the memory that few bytes can cause. The result is not vetted.
 * @throws MalformedUpdateError if the bytes are not an update, or if the update exceeds the limits of V1
 */
export const convertV2 = (bytes: Uint8Array): Uint8Array => runSteps(convertV2Steps(bytes))

/**
 * Like `convertV2`, in steps between which other work can run. The values of one item are converted in one step.
 * @throws MalformedUpdateError
 */
export function* convertV2Steps(bytes: Uint8Array): Steps<Uint8Array> {
  try {
    return yield* new Converter(bytes).convert()
  } catch (error) {
    if (error instanceof MalformedUpdateError) throw error
    throw new MalformedUpdateError('it is not an update in the encoding V2', { cause: error })
  }
}

class Converter {
  readonly #from: Y.UpdateDecoderV2
  readonly #to = new Y.UpdateEncoderV1()
  /** Reads the values of V2, which have the same bytes in V1. */
  readonly #values: ByteReader
  #structsLeft: number
  readonly #step = new StepMeter()

  constructor(bytes: Uint8Array) {
    this.#structsLeft = Math.min(structsMax, freeStructsMax + structsPerByte * bytes.length)
    this.#from = new Y.UpdateDecoderV2(decoding.createDecoder(bytes))
    this.#values = new ByteReader(bytes)
  }

  *convert(): Steps<Uint8Array> {
    for (let left = this.#count(clientsMax, 'clients'); left > 0; left--) yield* this.#client()
    for (let left = this.#count(clientsMax, 'clients'); left > 0; left--) yield* this.#deletions()
    if (decoding.hasContent(this.#from.restDecoder))
      throw new MalformedUpdateError('bytes follow the end of the update')
    return this.#to.toUint8Array()
  }

  *#client(): Steps<void> {
    const count = this.#count(this.#structsLeft, 'structs')
    this.#structsLeft -= count
    this.#to.writeClient(this.#from.readClient())
    this.#number()
    if (this.#step.isOver(partsOfClient)) yield
    for (let left = count; left > 0; left--) {
      this.#struct()
      this.#checkSize()
      if (this.#step.isOver(1)) yield
    }
  }

  *#deletions(): Steps<void> {
    this.#from.resetDsCurVal()
    this.#to.resetDsCurVal()
    this.#number()
    if (this.#step.isOver(partsOfClient)) yield
    for (let left = this.#count(structsMax, 'deleted ranges'); left > 0; left--) {
      this.#to.writeDsClock(this.#from.readDsClock())
      this.#to.writeDsLen(this.#from.readDsLen())
      if (this.#step.isOver(1)) yield
    }
    this.#checkSize()
  }

  /** Copies a number that has no encoding of its own in V2. */
  #number(): number {
    const value = decoding.readVarUint(this.#from.restDecoder)
    encoding.writeVarUint(this.#to.restEncoder, value)
    return value
  }

  #count(max: number, what: string): number {
    const count = this.#number()
    if (count > max)
      throw new MalformedUpdateError(
        `it has more than ${max} ${what} for its size; send it in the encoding V1`,
      )
    return count
  }

  #checkSize(): void {
    if (encoding.length(this.#to.restEncoder) > convertedBytesMax)
      throw new MalformedUpdateError(
        `it has more than ${convertedBytesMax} bytes in the encoding V1; send smaller updates`,
      )
  }

  #struct(): void {
    const info = this.#from.readInfo()
    const kind = info & 31
    this.#to.writeInfo(info)
    if (kind === struct.skip) this.#number()
    else if (kind === struct.gc) this.#length()
    else {
      this.#place(info)
      this.#content(kind)
    }
  }

  #place(info: number): void {
    const [from, to] = [this.#from, this.#to]
    if ((info & hasOrigin) !== 0) to.writeLeftID(from.readLeftID())
    if ((info & hasRightOrigin) !== 0) to.writeRightID(from.readRightID())
    if ((info & (hasOrigin | hasRightOrigin)) !== 0) return
    const isRoot = from.readParentInfo()
    to.writeParentInfo(isRoot)
    if (isRoot) this.#string()
    else to.writeLeftID(from.readLeftID())
    if ((info & hasParentSub) !== 0) this.#string()
  }

  #content(kind: number): void {
    const [from, to] = [this.#from, this.#to]
    switch (kind) {
      case struct.deleted:
        return void this.#length()
      case struct.string:
        return this.#string()
      case struct.binary:
        return to.writeBuf(from.readBuf())
      case struct.embed:
        return this.#json()
      case struct.format:
        to.writeKey(from.readKey())
        return this.#json()
      case struct.type:
        return this.#type()
      case struct.doc:
        this.#string()
        return this.#any()
      case struct.any:
        return this.#repeat(() => this.#any())
      case struct.json:
        return this.#repeat(() => this.#string())
      default:
        throw new MalformedUpdateError(`unknown kind of content ${kind}`)
    }
  }

  #length(): number {
    const length = this.#from.readLen()
    this.#to.writeLen(length)
    return length
  }

  #repeat(copy: () => void): void {
    for (let left = this.#length(); left > 0; left--) {
      this.#step.add(1)
      copy()
      this.#checkSize()
    }
  }

  #string(): void {
    this.#to.writeString(this.#from.readString())
  }

  #type(): void {
    const type = this.#from.readTypeRef()
    this.#to.writeTypeRef(type)
    if (namedTypes.includes(type)) this.#to.writeKey(this.#from.readKey())
  }

  #any(): void {
    encoding.writeUint8Array(this.#to.restEncoder, this.#value())
  }

  #json(): void {
    this.#to.writeJSON(decoding.readAny(decoding.createDecoder(this.#value())))
  }

  /** Reads the bytes of a value. The check of its nesting also protects the decoder of Yjs, which is recursive. */
  #value(): Uint8Array {
    const { restDecoder } = this.#from
    const start = restDecoder.pos
    this.#values.at = start
    skipAny(this.#values)
    restDecoder.pos = this.#values.at
    return this.#values.bytes.subarray(start, restDecoder.pos)
  }
}
