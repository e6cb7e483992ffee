import { expect, it } from 'vitest'
import { Renewals } from '../../../src/rooms/renewals.ts'
import type { Member } from '../../../src/rooms/room/member.ts'
import { HeldClock } from '../../support/time/clock.ts'

const windowMs = 40
const query = Uint8Array.of(3)
const hourMs = 3_600_000

/** Clients that answer with so many states as they see. */
function world(states: number) {
  const clock = new HeldClock()
  let asked = 0
  const member: Member = {
    encoder: {
      update: (bytes) => bytes,
      awareness: (bytes) => bytes,
      awarenessQuery: query,
      tellsBack: false,
    },
    user: { id: 'ada', name: 'ada', email: '' },
    deliver() {},
    deliverAwareness(frame) {
      if (frame === query) asked += 1
    },
    askForMissing() {},
    end() {},
  }
  const find = (): { member: Member; clock: number } => ({ member, clock: 1 })
  const renewals = new Renewals({ clock, windowMs, find, isKnown: () => true, count: () => states })
  const pass = (windows: number): number => {
    for (let window = 0; window < windows; window++) clock.advance(windowMs)
    return asked
  }
  return { clock, renewals, pass }
}

it('[AWA-18] where one answer is more than 1,000 states, so much later the next one is asked', () => {
  const { renewals, pass } = world(5_000)
  for (let clientId = 1; clientId <= 100; clientId++) renewals.want(clientId)
  expect(pass(1)).toBe(1)
  expect(pass(50)).toBe(11)
  renewals.close()
  expect(pass(50)).toBe(11)
})

it('[AWA-20] nobody waits longer to be asked because the clock has been set back', () => {
  const { clock, renewals, pass } = world(1_000)
  renewals.want(1)
  expect(pass(1)).toBe(1)
  clock.advance(-hourMs)
  renewals.want(2)
  expect(pass(1)).toBe(2)
  renewals.close()
})
