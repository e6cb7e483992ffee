import { crc32 } from 'node:zlib'

/** One frame of an animation: the part of the picture that differs from the frame before. */
export interface Frame {
  /** A PNG file. All frames must have the same color type and depth. */
  readonly png: Uint8Array
  readonly x: number
  readonly y: number
  /** How long it is shown, in ms. */
  readonly ms: number
}

interface Chunk {
  readonly type: string
  readonly data: Buffer
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/**
 * Returns an animated PNG (APNG, part of PNG since its third edition) that repeats without end. Programs that do not
 * know animations show its first frame.
 * @param frames the first one is the whole picture
 */
export function animatedPng(frames: readonly Frame[]): Buffer {
  const [first, ...others] = frames
  if (first === undefined) throw new Error('an animation has at least one frame')
  const head = headOf(first)
  let sequence = 0
  const control = (frame: Frame): Chunk => frameControl(sequence++, frame)
  const parts: Chunk[] = [
    { type: 'IHDR', data: head },
    { type: 'acTL', data: words(frames.length, 0) },
    control(first),
    { type: 'IDAT', data: pixelsOf(first) },
  ]
  for (const frame of others) {
    if (!headOf(frame).subarray(8).equals(head.subarray(8)))
      throw new Error('the frames have different colors')
    parts.push(control(frame), { type: 'fdAT', data: Buffer.concat([words(sequence++), pixelsOf(frame)]) })
  }
  parts.push({ type: 'IEND', data: Buffer.alloc(0) })
  return Buffer.concat([signature, ...parts.map(chunkBytes)])
}

/** Reads the chunks of a PNG file. @throws Error if the file is truncated or a checksum is wrong */
export function chunksOf(png: Uint8Array): readonly Chunk[] {
  const bytes = Buffer.from(png)
  if (!bytes.subarray(0, signature.length).equals(signature)) throw new Error('this is not a PNG file')
  const chunks: Chunk[] = []
  for (let at = signature.length; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const type = bytes.toString('latin1', at + 4, at + 8)
    const end = at + 8 + length
    if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) throw new Error(`${type} is damaged`)
    chunks.push({ type, data: bytes.subarray(at + 8, end) })
    at = end + 4
  }
  return chunks
}

function headOf({ png }: Frame): Buffer {
  const [head] = chunksOf(png)
  if (head?.type !== 'IHDR') throw new Error('a PNG file starts with IHDR')
  return head.data
}

const pixelsOf = ({ png }: Frame): Buffer =>
  Buffer.concat(chunksOf(png).flatMap(({ type, data }) => (type === 'IDAT' ? data : [])))

/** Control of a frame that covers its part of the picture and leaves the others as they are. */
function frameControl(sequence: number, frame: Frame): Chunk {
  const head = headOf(frame)
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  const delay = Buffer.alloc(6)
  delay.writeUInt16BE(frame.ms, 0)
  delay.writeUInt16BE(1000, 2)
  return { type: 'fcTL', data: Buffer.concat([words(sequence, width, height, frame.x, frame.y), delay]) }
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index)
  return bytes
}

function chunkBytes({ type, data }: Chunk): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([words(data.length), body, words(crc32(body))])
}
