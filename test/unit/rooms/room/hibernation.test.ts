import { expect } from 'vitest'
import * as Y from 'yjs'
import { close } from '../../../../src/core/model/close.ts'
import { BackendEdits } from '../../../../src/core/rooms/edits/backend-edits.ts'
import type { Room } from '../../../../src/core/rooms/room/room.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { roomsOn } from '../../../support/data/rooms.ts'
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
  const rooms = roomsOn(engine, { restMs: 1_000 }, { clock })
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
