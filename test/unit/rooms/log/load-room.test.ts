import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { addressKey } from '../../../../src/core/model/address.ts'
import { LargeDeletionError, loadRoom } from '../../../../src/core/rooms/log/load-room.ts'
import { contentSum } from '../../../../src/core/rooms/log/merge-stored.ts'
import { runTask } from '../../../../src/core/rooms/threads/thread-task.ts'
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

it('[ROOM-65] reads a document on a thread if a stored update deletes too much for a slice', async () => {
  const engine = await openMemoryEngine()
  const updates = hostileUpdates.deletedTurns(10_000)
  await engine.log.append(
    doc,
    'create',
    updates.map((bytes) => ({ bytes, by: 'alice' })),
  )
  await expect(loadRoom(engine.log, doc)).rejects.toThrow(LargeDeletionError)
  const { state } = await loadRoom(engine.log, doc, {
    place: async (stored) => runTask({ is: 'open', updates: stored }),
  })
  const expected = new Y.Doc()
  for (const update of updates) Y.applyUpdate(expected, update)
  const sums = [state.encode(), Y.encodeStateAsUpdate(expected)].map((bytes) => contentSum(bytes))
  expect(sums[0]).toEqual(sums[1])
  await engine.close()
})
