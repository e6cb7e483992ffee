import { expect, it } from 'vitest'
import { WorkShares } from '../../../../src/core/rooms/updates/work-shares.ts'
import { HeldClock } from '../../../support/time/clock.ts'

const cheap = { updates: 10, steps: 100, ms: 5 }
const expensive = { updates: 1, steps: 1_000_000, ms: 100 }

it('[ROOM-53] delays the documents of a workspace that has used up its share, and not those of other workspaces', () => {
  const clock = new HeldClock()
  const exceeded: string[] = []
  const shares = new WorkShares(clock, (workspaceId) => exceeded.push(workspaceId))
  for (let tick = 0; tick < 1_000; tick += 1) expect(shares.spend('honest', cheap)).toBe(0)
  for (let tick = 0; tick < 5; tick += 1) expect(shares.spend('hostile', expensive)).toBe(0)
  // One edit above the burst: 100 ms are forgiven per second.
  expect(shares.spend('hostile', expensive)).toBe(1_000)
  expect(shares.waitMs('hostile')).toBe(1_000)
  expect(shares.waitMs('honest')).toBe(0)
  expect(shares.spend('honest', expensive)).toBe(0)
  expect(exceeded).toEqual(['hostile'])
  clock.advance(600)
  expect(shares.waitMs('hostile')).toBe(400)
  clock.advance(400)
  expect(shares.waitMs('hostile')).toBe(0)
  for (let tick = 0; tick < 50; tick += 1) shares.spend('hostile', expensive)
  expect(shares.waitMs('hostile')).toBe(2_000)
})

it('[ROOM-53] counts an edit that has few steps but takes long by its time', () => {
  const shares = new WorkShares(new HeldClock(), () => {})
  const slow = { updates: 2, steps: 10, ms: 300 }
  expect(shares.spend('w', slow)).toBe(0)
  expect(shares.spend('w', slow)).toBe(1_000)
})

it('[ROOM-58] counts the time of each sender separately, and forgives a part of it', () => {
  const clock = new HeldClock()
  const shares = new WorkShares(clock, () => {})
  const [ann, bob] = [{}, {}]
  expect([shares.exceeds(ann, 400), shares.exceeds(bob, 200)]).toEqual([false, false])
  clock.advance(4_000)
  expect(shares.exceeds(ann, 100)).toBe(false)
  expect(shares.exceeds(ann, 100)).toBe(true)
  expect(shares.exceeds(bob, 10)).toBe(false)
})
