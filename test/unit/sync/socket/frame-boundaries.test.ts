import { array, assert, boolean, constantFrom, integer, oneof, property, record } from 'fast-check'
import { expect, it } from 'vitest'
import { FrameBoundaries } from '../../../../src/core/sync/socket/incomplete-message.ts'

interface Frame {
  readonly length: number
  readonly isMasked: boolean
  readonly isLast: boolean
  /** Control frames are complete, and may occur between the fragments of a message. */
  readonly isControl: boolean
}

function bytesOf({ length, isMasked, isLast, isControl }: Frame): Buffer {
  const mask = isMasked ? 0x80 : 0
  const first = isControl ? 0x89 : isLast ? 0x82 : 0x02
  const size = isControl ? Math.min(length, 125) : length
  const payload = Buffer.alloc(size + (isMasked ? 4 : 0), 0x81)
  if (size < 126) return Buffer.concat([Buffer.from([first, mask | size]), payload])
  if (size < 65_536) {
    const head = Buffer.from([first, mask | 126, 0, 0])
    head.writeUInt16BE(size, 2)
    return Buffer.concat([head, payload])
  }
  const head = Buffer.alloc(10)
  head.set([first, mask | 127])
  head.writeBigUInt64BE(BigInt(size), 2)
  return Buffer.concat([head, payload])
}

const frames = array(
  record({
    length: oneof(integer({ min: 0, max: 130 }), constantFrom(125, 126, 65_535, 65_536, 70_000)),
    isMasked: boolean(),
    isLast: boolean(),
    isControl: boolean(),
  }),
  { minLength: 1, maxLength: 6 },
)

it('[LIM-19] finds the ends of messages, however their bytes are split', () => {
  assert(
    property(frames, array(integer({ min: 1, max: 40_000 }), { minLength: 1 }), (all, cuts) => {
      const bytes = Buffer.concat(all.map(bytesOf))
      /** Positions at which no frame and no message is incomplete. */
      const ends = [0]
      let [end, isFragmented] = [0, false]
      for (const each of all) {
        end += bytesOf(each).length
        if (!each.isControl) isFragmented = !each.isLast
        if (!isFragmented) ends.push(end)
      }
      const boundaries = new FrameBoundaries()
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const next = Math.min(bytes.length, at + (cuts[turn % cuts.length] as number))
        const last = ends.findLast((each) => each >= at && each <= next)
        expect(boundaries.pass(bytes.subarray(at, next))).toBe(last === undefined ? -1 : last - at)
        at = next
      }
    }),
    { numRuns: 50 },
  )
})
