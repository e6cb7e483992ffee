import { expect, it } from 'vitest'
import { createLog } from '../../../../src/core/base/log.ts'
import { createMetrics } from '../../../../src/core/metrics/metrics.ts'
import { addressKey } from '../../../../src/core/model/address.ts'
import { close } from '../../../../src/core/model/close.ts'
import { structsPerTick } from '../../../../src/core/rooms/document/integration-limits.ts'
import { BackendEdits } from '../../../../src/core/rooms/edits/backend-edits.ts'
import { RoomRegistry } from '../../../../src/core/rooms/registry/room-registry.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { noEdits, noRecords, noVisits } from '../../../support/data/rooms.ts'
import { block, contents, item, list, updateOf } from '../../../support/data/update-builder.ts'
import { roomyAccounts } from '../../../support/servers/memory.ts'
import { HeldClock } from '../../../support/time/clock.ts'

const address = { workspaceId: 'w', apiKey: 'k', organizationId: 'o', documentId: 'd', editorId: 'e' }

it('[ROOM-65] opens a large document in slices before backends read it or change it, and before its state is encoded', async () => {
  const clock = new HeldClock()
  const engine = await openMemoryEngine({ clock })
  const rooms = new RoomRegistry(
    engine,
    {
      documentBytesMax: 1e6,
      pendingUpdateBytesMax: 1e6,
      awarenessWindowMs: 40,
      compactAfterUpdates: 1_000,
      idleMs: 2 ** 30,
      restMs: 2 ** 30,
      keepVersionsMs: 0,
      documentsPerWorkspaceMax: 0,
      computeThreads: 1,
      threadJobMs: 60_000,
    },
    {
      clock,
      metrics: createMetrics(),
      logger: createLog('silent'),
      memory: roomyAccounts(),
      records: noRecords,
      edits: noEdits,
      visits: noVisits,
      overspent: () => {},
    },
  )
  const embeds = (client: number): Uint8Array =>
    updateOf([
      block(
        client,
        list(structsPerTick, () => item({ parent: `${client}` }, contents.embed)),
      ),
    ])
  const stored = async (documentId: string, clients: readonly number[]) => {
    const at = { ...address, documentId }
    const entries = clients.map((client) => ({ bytes: embeds(client), by: '' }))
    await engine.log.append(addressKey(at), 'create', entries)
    const { room } = await rooms.open(at)
    return { room, edits: new BackendEdits(room) }
  }
  const joined = await stored('joined', [1, 2])
  const captured = await joined.edits.capture()
  expect(joined.room.state.opened).not.toBeNull()
  expect(captured?.bytes).toEqual(joined.room.state.encode())
  const viewed = await stored('viewed', [1, 2])
  expect((await viewed.edits.view((doc) => doc.store.clients.size)).result).toBe(2)
  expect(viewed.room.state.opened).not.toBeNull()
  const changed = await stored('changed', [1, 2])
  await changed.edits.apply('', updateOf([block(3, [item({ parent: '3' }, contents.embed)])]), {
    expects: 'content',
  })
  expect(changed.room.state.opened).not.toBeNull()
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  await engine.close()
})
