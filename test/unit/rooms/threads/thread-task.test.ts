import { expect, it } from 'vitest'
import { buffersOf } from '../../../../src/rooms/threads/thread-task.ts'

it('[ROOM-30] transfers each buffer of a result once, and copies bytes that share a buffer with others', () => {
  const own = new Uint8Array(9)
  const part = new Uint8Array(9).subarray(0, 5)
  const merged = (update: Uint8Array | null, state: Uint8Array | null) =>
    buffersOf({ is: 'merged', update, deletes: false, state })
  expect(merged(own, own)).toEqual([own.buffer])
  expect(merged(part, own)).toEqual([own.buffer])
  expect(merged(null, part)).toEqual([])
})
