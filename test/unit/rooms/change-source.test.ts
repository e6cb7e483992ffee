import { afterEach, beforeEach, expect, it } from 'vitest'
import { prepareChange } from '../../../src/core/content/root-change.ts'
import { OwnerWork } from '../../../src/core/jobs/owner-work.ts'
import { addressKey } from '../../../src/core/model/address.ts'
import { close } from '../../../src/core/model/close.ts'
import { changeSource } from '../../../src/core/rooms/change-source.ts'
import { Replacement } from '../../../src/core/rooms/edits/replacement.ts'
import { readAttribution } from '../../../src/core/rooms/log/read-attribution.ts'
import type { RoomRegistry } from '../../../src/core/rooms/registry/room-registry.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { shareOf } from '../../../src/core/update/attribution/attribution.ts'
import { roomsOn } from '../../support/data/rooms.ts'
import { HeldClock } from '../../support/time/clock.ts'

const scope = { workspaceId: 'workspace', apiKey: 'key', organizationId: 'acme' }
const addressOf = (documentId: string) => ({ ...scope, documentId, editorId: 'main' })

let engine: Engine
let rooms: RoomRegistry

beforeEach(async () => {
  const clock = new HeldClock()
  engine = await openMemoryEngine({ clock })
  rooms = roomsOn(engine, { compactAfterUpdates: 50 }, { clock })
})

afterEach(async () => {
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  await engine.close()
})

async function write(documentId: string, data: string): Promise<void> {
  const change = prepareChange({ type: 'text', contentKey: 'content', data }, 1e6)
  await rooms.use(addressOf(documentId), (room) =>
    new Replacement(room).change('zoe', { is: 'replace', ...change }, { expects: 'either' }),
  )
}

const insertedBy = async (documentId: string): Promise<number> =>
  shareOf(await readAttribution(engine.log, addressKey(addressOf(documentId))), 'zoe').inserted

it('[ATT-102] a new erasure starts with the first document if the previous one stopped in the middle', async () => {
  for (const documentId of ['d1', 'd2', 'd3']) await write(documentId, 'one')
  const source = changeSource(engine.log, rooms, new OwnerWork(rooms.presence.requests, engine.cluster))
  const lost = async (): Promise<void> => {
    throw new Error('the lease is lost')
  }
  expect(await source.erase(scope, 'zoe', lost)).toBe(1)
  await write('d1', 'one, two')
  const lease = async (): Promise<void> => {}
  let count = 0
  while ((await source.erase(scope, 'zoe', lease)) > 0) count += 1
  expect(count).toBe(3)
  expect(await Promise.all(['d1', 'd2', 'd3'].map(insertedBy))).toEqual([0, 0, 0])
})
