import { expect, it } from 'vitest'
import { createMetrics } from '../../../../src/core/metrics/metrics.ts'
import { close } from '../../../../src/core/model/close.ts'
import { statesMax } from '../../../../src/core/rooms/awareness/room-awareness.ts'
import type { Member } from '../../../../src/core/rooms/updates/change.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { readAwareness } from '../../../../src/core/update/awareness.ts'
import { roomsOn } from '../../../support/data/rooms.ts'

const address = {
  workspaceId: 'w',
  apiKey: 'k',
  organizationId: 'acme',
  documentId: 'crowded',
  editorId: 'main',
}

function visitor(id: string): Member {
  return {
    encoder: {
      update: (bytes) => bytes,
      awareness: (message) => message,
      awarenessQuery: new Uint8Array(),
      answersRemoval: true,
    },
    user: { id, name: id, email: '' },
    deliver() {},
    deliverAwareness() {},
    requestMissing() {},
    end() {},
  }
}

it('[AWA-12] shows at most 5,000 clients, keeps and counts further clients, and shows these when other clients leave', async () => {
  const engine = await openMemoryEngine()
  const metrics = createMetrics()
  const rooms = roomsOn(engine, {}, { metrics })
  const { room } = await rooms.open(address)
  const seen = (): number => room.awareness.all().flatMap((bytes) => readAwareness(bytes)).length
  const refused = async (): Promise<number | undefined> =>
    (await metrics.statesRefused.get()).values[0]?.value
  const members = Array.from({ length: statesMax + 1 }, (_, index) => visitor(`user-${index}`))
  const say = (index: number, clock: number): void =>
    room.awareness.receive(members[index] as Member, [
      { clientId: index + 1, clock, state: { cursor: clock } },
    ])
  for (const [index, member] of members.entries()) {
    room.join(member)
    say(index, 1)
  }
  expect([seen(), await refused()]).toEqual([statesMax, 1])
  say(0, 2)
  expect(await refused()).toBe(1)
  say(statesMax, 2)
  expect([seen(), await refused()]).toEqual([statesMax, 2])
  expect(room.memberCount).toBe(statesMax + 1)
  room.leave(members[1] as Member)
  say(statesMax, 3)
  expect([seen(), await refused()]).toEqual([statesMax, 2])
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  await engine.close()
})
