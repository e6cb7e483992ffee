import { expect, it } from 'vitest'
import { RoomAwareness } from '../../../../src/core/rooms/awareness/room-awareness.ts'
import type { Member } from '../../../../src/core/rooms/updates/change.ts'
import { readAwareness } from '../../../../src/core/update/awareness.ts'
import { presenceAlone } from '../../../support/data/rooms.ts'
import { HeldClock } from '../../../support/time/clock.ts'

const document = { workspaceId: 'ws', apiKey: 'key', organizationId: 'acme', documentId: 'doc' }
const windowMs = 40

/** A room in which ada moves a cursor and eve receives it. A window has just begun. */
function world() {
  const clock = new HeldClock()
  const presence = presenceAlone(clock)
  const members = new Set<Member>()
  const parts = { members, presence: presence.presenceOf(document), editorId: 'main', clock, windowMs }
  const board = new RoomAwareness({ ...parts, hasContent: () => true, refused: () => {} })
  const seen: unknown[][] = []
  const join = (id: string, deliverAwareness: Member['deliverAwareness']): Member => {
    const member: Member = {
      encoder: {
        update: (bytes) => bytes,
        awareness: (bytes) => bytes,
        awarenessQuery: new Uint8Array(),
        answersRemoval: true,
      },
      user: { id, name: id, email: '' },
      deliver() {},
      deliverAwareness,
      requestMissing() {},
      end() {},
    }
    members.add(member)
    board.join(member)
    return member
  }
  const ada = join('ada', () => {})
  join('eve', (frame) => void seen.push(readAwareness(frame).map(({ state }) => state)))
  const move = (cursor: number): void =>
    board.receive(ada, [{ clientId: 1, clock: cursor, state: { cursor } }])
  move(1)
  clock.advance(0)
  seen.length = 0
  return { clock, presence, seen, move }
}

it('[PRES-30] sends presence changes of REST at the end of the tick, together with cursors that wait for the end of the broadcast window', () => {
  const { clock, presence, seen, move } = world()
  move(2)
  clock.advance(0)
  expect(seen).toEqual([])
  presence.presenceOf(document).update([{ userId: 'ada', status: 'busy' }])
  presence.presenceOf(document).add([{ userId: 'guest', status: 'reading' }], 60_000)
  expect(seen).toEqual([])
  clock.advance(0)
  expect(seen).toEqual([
    [
      { cursor: 2, user: { id: 'ada', name: 'ada', status: 'busy' } },
      { user: { id: 'guest', name: '', status: 'reading', kind: 'user', color: '#0b57a4' } },
    ],
  ])
})

it('[PRES-30] sends a presence deletion by REST without waiting for the end of the broadcast window', () => {
  const { clock, presence, seen } = world()
  presence.presenceOf(document).delete(['ada'])
  clock.advance(0)
  expect(seen).toEqual([[null]])
})

it('[PRES-30] starts a broadcast window after a presence change by REST, and delays cursors until the window ends', () => {
  const { clock, presence, seen, move } = world()
  clock.advance(windowMs - 1)
  presence.presenceOf(document).update([{ userId: 'ada', status: 'busy' }])
  clock.advance(0)
  expect(seen).toHaveLength(1)
  move(2)
  clock.advance(windowMs - 1)
  expect(seen).toHaveLength(1)
  clock.advance(1)
  expect(seen).toHaveLength(2)
})

it('[AWA-20] when the clock was set back, delays a cursor by one window at most', () => {
  const { clock, seen, move } = world()
  clock.advance(-3_600_000)
  move(2)
  clock.advance(windowMs)
  expect(seen).toHaveLength(1)
})

it('[AWA-20] sends an equal state with a later clock again, even if the clock of the server was set back', () => {
  const { clock, presence, seen } = world()
  const say = (): void => {
    presence.presenceOf(document).add([{ userId: 'guest' }], 600_000)
    clock.advance(0)
  }
  clock.advance(100_000)
  say()
  expect(seen).toHaveLength(1)
  clock.advance(-60_000)
  say()
  expect(seen).toHaveLength(2)
})
