import { expect, it } from 'vitest'
import { systemClock } from '../../../../src/core/base/clock.ts'
import { createLog } from '../../../../src/core/base/log.ts'
import { createMetrics } from '../../../../src/core/metrics/metrics.ts'
import { close } from '../../../../src/core/model/close.ts'
import { BackendEdits } from '../../../../src/core/rooms/edits/backend-edits.ts'
import { RoomRegistry } from '../../../../src/core/rooms/registry/room-registry.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { rangesPerStep } from '../../../../src/core/update/outline.ts'
import { noEdits, noRecords, noVisits } from '../../../support/data/rooms.ts'
import { block, contents, item, list, updateOf } from '../../../support/data/update-builder.ts'
import { roomyAccounts } from '../../../support/servers/memory.ts'

const slices = 20
/** An update that is vetted in 20 slices. Its last bytes are missing, so that only the last slice rejects it. */
const cut = updateOf([
  block(
    1,
    list(slices, () => item({ parent: 'values' }, contents.values(rangesPerStep))),
  ),
]).subarray(0, -3)

it('[ROOM-70] vets a large update of a backend in slices, with other work between them', async () => {
  const engine = await openMemoryEngine()
  const rooms = new RoomRegistry(
    engine,
    {
      documentBytesMax: 2 ** 26,
      pendingUpdateBytesMax: 2 ** 20,
      awarenessWindowMs: 50,
      compactAfterUpdates: 50,
      keepVersionsMs: 0,
      idleMs: 60_000,
      restMs: 60_000,
      documentsPerWorkspaceMax: 0,
      computeThreads: 0,
      threadJobMs: 60_000,
    },
    {
      clock: systemClock,
      metrics: createMetrics(),
      logger: createLog('silent'),
      memory: roomyAccounts(),
      records: noRecords,
      edits: noEdits,
      visits: noVisits,
      overspent: () => {},
    },
  )
  const scope = { workspaceId: 'workspace', apiKey: 'key', organizationId: 'acme' }
  let turns = 0
  const count = (): void => {
    turns += 1
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const applying = rooms.use({ ...scope, documentId: 'large', editorId: 'main' }, (room) =>
    new BackendEdits(room).apply('', cut, { expects: 'either' }),
  )
  await expect(applying).rejects.toMatchObject({ code: 'crdt/malformed-update' })
  clearImmediate(counting)
  expect(turns).toBeGreaterThanOrEqual(slices - 1)
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  await engine.close()
})
