import { expect } from 'vitest'
import * as Y from 'yjs'
import { createLog } from '../../../../src/core/base/log.ts'
import { createMetrics } from '../../../../src/core/metrics/metrics.ts'
import { close } from '../../../../src/core/model/close.ts'
import { BackendEdits } from '../../../../src/core/rooms/edits/backend-edits.ts'
import { RoomRegistry } from '../../../../src/core/rooms/registry/room-registry.ts'
import type { Room } from '../../../../src/core/rooms/room/room.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { noEdits, noRecords, noVisits } from '../../../support/data/rooms.ts'
import { roomyAccounts } from '../../../support/servers/memory.ts'
import { HeldClock } from '../../../support/time/clock.ts'
import { itLong } from '../../../support/time/full-run.ts'

const roomCount = 200

/** A document of some thousand items. */
function richText(): Uint8Array {
  const doc = new Y.Doc()
  const map = doc.getMap('map')
  for (let key = 0; key < 2_000; key++) map.set(`key ${key}`, 'value')
  return Y.encodeStateAsUpdate(doc)
}

itLong('hibernates rooms that become due at the same time in several ticks of the event loop', async () => {
  const clock = new HeldClock()
  const engine = await openMemoryEngine({ clock })
  const limits = {
    documentBytesMax: 1e6,
    pendingUpdateBytesMax: 1e6,
    awarenessWindowMs: 40,
    compactAfterUpdates: 1_000,
  }
  const parts = { clock, metrics: createMetrics(), logger: createLog('silent') }
  const rooms = new RoomRegistry(
    engine,
    {
      ...limits,
      idleMs: 2 ** 30,
      restMs: 1_000,
      keepVersionsMs: 0,
      documentsPerWorkspaceMax: 0,
      computeThreads: 0,
      threadJobMs: 60_000,
    },
    {
      ...parts,
      memory: roomyAccounts(),
      records: noRecords,
      edits: noEdits,
      visits: noVisits,
      overspent: () => {},
    },
  )
  const bytes = richText()
  const open: Room[] = []
  for (let index = 0; index < roomCount; index++) {
    const address = {
      // The clock is stopped: one workspace would have to wait for its share of the event loop.
      workspaceId: `w${index}`,
      apiKey: 'k',
      organizationId: 'o',
      documentId: `${index}`,
      editorId: 'e',
    }
    const { room } = await rooms.open(address)
    await new BackendEdits(room).apply('ada', bytes, { expects: 'either' })
    open.push(room)
  }
  const atRest = (): number => open.filter(({ state }) => state.bytes !== null).length
  clock.advance(1_000)
  expect(atRest()).toBe(0)
  clock.advance(1_000)
  expect(atRest()).toBeGreaterThan(0)
  expect(atRest()).toBeLessThan(roomCount)
  for (let turns = 0; turns < roomCount && atRest() < roomCount; turns++) clock.advance(0)
  expect(atRest()).toBe(roomCount)
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  await engine.close()
})
