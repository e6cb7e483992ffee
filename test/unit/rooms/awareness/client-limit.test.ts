import { expect, it } from 'vitest'
import { systemClock } from '../../../../src/core/base/clock.ts'
import { createLog } from '../../../../src/core/base/log.ts'
import { createMetrics } from '../../../../src/core/metrics/metrics.ts'
import { close } from '../../../../src/core/model/close.ts'
import { statesMax } from '../../../../src/core/rooms/awareness/room-awareness.ts'
import { RoomRegistry } from '../../../../src/core/rooms/registry/room-registry.ts'
import type { Member } from '../../../../src/core/rooms/updates/change.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { readAwareness } from '../../../../src/core/update/awareness.ts'
import { noEdits, noRecords, noVisits } from '../../../support/data/rooms.ts'
import { roomyAccounts } from '../../../support/servers/memory.ts'

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
  const rooms = new RoomRegistry(
    engine,
    {
      documentBytesMax: 1e6,
      pendingUpdateBytesMax: 1e6,
      awarenessWindowMs: 40,
      compactAfterUpdates: 1_000,
      idleMs: 60_000,
      restMs: 60_000,
      keepVersionsMs: 0,
      documentsPerWorkspaceMax: 0,
      computeThreads: 0,
      threadJobMs: 60_000,
    },
    {
      clock: systemClock,
      metrics,
      logger: createLog('silent'),
      memory: roomyAccounts(),
      records: noRecords,
      edits: noEdits,
      visits: noVisits,
      overspent: () => {},
    },
  )
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
