import { expect, it } from 'vitest'
import type { Member } from '../../../src/rooms/room/member.ts'
import { Unseen } from '../../../src/rooms/unseen.ts'
import { HeldClock } from '../../support/time/clock.ts'

const shown = new Map(Array.from({ length: 5_000 }, (_, clientId) => [clientId, { clock: 1 }]))

const visitor = (): Member => ({
  encoder: {
    update: (bytes) => bytes,
    awareness: (bytes) => bytes,
    awarenessQuery: new Uint8Array(),
    tellsBack: true,
  },
  user: { id: 'ada', name: 'ada', email: '' },
  deliver() {},
  deliverAwareness() {},
  askForMissing() {},
  end() {},
})

it('[AWA-21] of those who never answer no more is kept than a million clients they were told of', () => {
  const unseen = new Unseen(new HeldClock())
  const first = visitor()
  unseen.greet(first, shown)
  const answering = Array.from({ length: 300 }, visitor)
  for (const member of answering) {
    unseen.greet(member, shown)
    unseen.toldBack(member, 1)
    expect(unseen.answered(member)?.size).toBe(4_999)
  }
  const silent = Array.from({ length: 199 }, visitor)
  for (const member of silent) unseen.greet(member, shown)
  expect(unseen.answered(first)?.size).toBe(5_000)
  unseen.greet(first, shown)
  unseen.greet(visitor(), shown)
  expect(silent.map((member) => unseen.answered(member)?.size).slice(0, 2)).toEqual([undefined, 5_000])
})
