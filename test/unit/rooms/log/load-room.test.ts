import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { addressKey } from '../../../../src/core/model/address.ts'
import { loadRoom } from '../../../../src/core/rooms/log/load-room.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { hostileUpdates } from '../../../support/faults/hostile-shapes.ts'

const doc = addressKey({
  workspaceId: 'workspace',
  apiKey: 'key',
  organizationId: 'acme',
  documentId: 'plan',
  editorId: 'main',
})

it('[ROOM-65] loads updates that delete content in slices, with other work between them', async () => {
  const engine = await openMemoryEngine()
  const updates = hostileUpdates.alternateItemDeletions(20_000)
  await engine.log.append(
    doc,
    'create',
    updates.map((bytes) => ({ bytes, by: 'alice' })),
  )
  let ticks = 0
  const count = (): void => {
    ticks += 1
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const { state } = await loadRoom(engine.log, doc)
  clearImmediate(counting)
  expect(ticks).toBeGreaterThanOrEqual(10)
  const expected = new Y.Doc()
  for (const update of updates) Y.applyUpdate(expected, update)
  expect(Buffer.compare(state.encode(), Y.encodeStateAsUpdate(expected))).toBe(0)
  await engine.close()
})
