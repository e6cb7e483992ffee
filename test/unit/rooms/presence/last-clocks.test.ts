import { expect, it } from 'vitest'
import type { Member } from '../../../../src/core/rooms/updates/change.ts'
import { clockMax } from '../../../../src/core/update/byte-reader.ts'
import { HeldClock } from '../../../support/time/clock.ts'
import { Client, document, end, Server, settle } from '../awareness/stock-clients.ts'

const asItIs = (bytes: Uint8Array): Uint8Array => bytes

/** A member that sends the messages of the test and no answers. */
const silentMember = (userId: string): Member => ({
  encoder: { update: asItIs, awareness: asItIs, awarenessQuery: Uint8Array.of(3), answersRemoval: true },
  user: { id: userId, name: userId, email: '' },
  deliver: () => {},
  deliverAwareness: () => {},
  requestMissing: () => {},
  end: () => {},
})

it('[AWA-28] shows all clients even if one of them has the highest possible clock', () => {
  const clock = new HeldClock()
  const server = new Server(clock)
  const clients = [new Client(1), new Client(2)] as const
  const [ada, bob] = clients
  for (const each of clients) each.come(server)
  const eve = silentMember('eve')
  const { board, members, presence } = server
  members.add(eve)
  board.join(eve)
  const seen = (clientId: number): unknown => bob.awareness.getStates().get(clientId)
  for (const cursor of [1, 2, 3, 4]) {
    board.receive(eve, [{ clientId: 7, clock: clockMax - 1, state: { cursor } }])
    ada.show('cursor', cursor)
    settle(clock, clients)
    for (const clientId of [1, 7]) expect(seen(clientId)).toMatchObject({ cursor })
  }
  presence.presenceOf(document).update([{ userId: 'eve', status: 'busy' }])
  clock.advance(10_000)
  settle(clock, clients)
  expect(seen(7)).toMatchObject({ cursor: 4, user: { status: 'busy' } })
  members.delete(eve)
  board.leave(eve)
  settle(clock, clients)
  expect(seen(7)).toBeUndefined()
  expect(seen(1)).toMatchObject({ cursor: 4 })
  end(server, clients)
})
