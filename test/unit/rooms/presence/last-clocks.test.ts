import { expect, it } from 'vitest'
import type { Member } from '../../../../src/core/rooms/updates/member.ts'
import { clockMax } from '../../../../src/core/update/byte-reader.ts'
import { document, Page, World } from './simulated-cluster.ts'

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

it('[AWA-28] shows all clients even if one of them has the highest possible clock', async () => {
  const world = await World.of(1, () => [0])
  const [ada, bob] = [new Page('ada', 1), new Page('bob', 2)]
  ada.connect(world.node(0))
  bob.connect(world.node(0))
  const eve = silentMember('eve')
  const { board } = world.node(0).enter(eve)
  const seen = (clientId: number): unknown => bob.awareness.getStates().get(clientId)
  for (const cursor of [1, 2, 3, 4]) {
    board.receive(eve, [{ clientId: 7, clock: clockMax - 1, state: { cursor } }])
    ada.show(cursor)
    await world.pass(200)
    for (const clientId of [1, 7]) expect(seen(clientId)).toMatchObject({ cursor })
  }
  world.node(0).presence.use(document, (present) => present.update([{ userId: 'eve', status: 'busy' }]))
  await world.pass(10_000)
  expect(seen(7)).toMatchObject({ cursor: 4, user: { status: 'busy' } })
  world.node(0).leave(eve)
  await world.pass(200)
  expect(seen(7)).toBeUndefined()
  expect(seen(1)).toMatchObject({ cursor: 4 })
  for (const page of [ada, bob]) {
    page.disconnect()
    page.destroy()
  }
  await world.end()
})
