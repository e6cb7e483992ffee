import { expect, it } from 'vitest'
import { buffersOf, packUpdates, unpackUpdates } from '../../../../src/core/rooms/threads/thread-task.ts'

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

it('[ROOM-68] copies the updates of a job in several ticks of the event loop', async () => {
  const updates = [2_500_000, 10, 1_000_000].map((length, index) => new Uint8Array(length).fill(index + 1))
  let ticks = 0
  const count = (): void => {
    ticks += 1
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const packed = await packUpdates(updates)
  clearImmediate(counting)
  expect(ticks).toBe(3)
  const unpacked = unpackUpdates(packed)
  expect(unpacked.map((update, index) => Buffer.compare(update, updates[index] ?? update))).toEqual([0, 0, 0])
})
