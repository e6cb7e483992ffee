import { array, assert, integer, property, uint8Array } from 'fast-check'
import { expect, it } from 'vitest'
import { GrowingBytes } from '../../../src/core/quota/growing-bytes.ts'

it('[LIM-33] keeps chunks of any size in at most twice the memory of their bytes', () => {
  assert(
    property(array(uint8Array({ maxLength: 300 })), integer({ min: 0, max: 100 }), (chunks, spare) => {
      const bytesMax = chunks.reduce((sum, { length }) => sum + length, spare)
      const bytes = new GrowingBytes(bytesMax)
      for (const chunk of chunks) bytes.add(chunk)
      expect(bytes.length).toBe(bytesMax - spare)
      expect(bytes.capacity).toBeLessThanOrEqual(Math.min(bytesMax, 2 * bytes.length))
      expect(Buffer.compare(bytes.take(), Buffer.concat(chunks))).toBe(0)
    }),
  )
})
