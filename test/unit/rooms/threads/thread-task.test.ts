import { expect, it } from 'vitest'
import { buffersOf } from '../../../../src/core/rooms/threads/thread-task.ts'

it('[ROOM-30] transfers each buffer of a result once, and copies bytes that share a buffer with others', () => {
  const own = new Uint8Array(9)
  const part = new Uint8Array(9).subarray(0, 5)
  const placed = (update: Uint8Array | null, state: Uint8Array | null) =>
    buffersOf({
      added: update,
      state,
      gap: false,
      isDear: false,
      placements: [],
      problem: null,
      warnings: [],
    })
  expect(placed(own, own)).toEqual([own.buffer])
  expect(placed(part, own)).toEqual([own.buffer])
  expect(placed(null, part)).toEqual([])
})
