import { expect } from 'vitest'
import * as Y from 'yjs'
import { openMemoryEngine } from '../../../src/engine/memory/index.ts'
import { createLog } from '../../../src/log.ts'
import { createMetrics } from '../../../src/metrics.ts'
import { close } from '../../../src/model/close.ts'
import type { Room } from '../../../src/rooms/room.ts'
import { Rooms } from '../../../src/rooms/rooms.ts'
import { HeldClock } from '../../support/clock.ts'
import { itLong } from '../../support/long.ts'
import { noEdits, noRecords, noVisits } from '../../support/rooms.ts'

const roomCount = 200

/** A document of some thousand items. */
function richText(): Uint8Array {
  const doc = new Y.Doc()
  const map = doc.getMap('map')
  for (let key = 0; key < 2_000; key++) map.set(`key ${key}`, 'value')
  return Y.encodeStateAsUpdate(doc)
}

itLong('[ROOM-41] rooms that come to rest together do so in several turns of the event loop', async () => {
  const clock = new HeldClock()
  const engine = await openMemoryEngine({ clock })
  const limits = { documentBytesMax: 1e6, heldBytesMax: 1e6, awarenessWindowMs: 40, compactAfter: 1_000 }
  const parts = { clock, metrics: createMetrics(), logger: createLog('silent') }
  const rooms = new Rooms(
    engine,
    {
      ...limits,
      idleMs: 2 ** 30,
      restMs: 1_000,
      keepVersionsMs: 0,
      documentsPerWorkspaceMax: 0,
      replaceThreads: 0,
    },
    { ...parts, records: noRecords, edits: noEdits, visits: noVisits },
  )
  const bytes = richText()
  const open: Room[] = []
  for (let index = 0; index < roomCount; index++) {
    const address = {
      workspaceId: 'w',
      apiKey: 'k',
      organizationId: 'o',
      documentId: `${index}`,
      editorId: 'e',
    }
    const { room } = await rooms.open(address)
    await room.editing.apply('ada', bytes, { expects: 'either', allowSubdocuments: false })
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
  await rooms.closeAll(close('restarting', 'the test is over'))
  await engine.close()
})
