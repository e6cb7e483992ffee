import { expect, it } from 'vitest'
import { addressKey } from '../../../../src/core/model/address.ts'
import { close } from '../../../../src/core/model/close.ts'
import { structsPerTick } from '../../../../src/core/rooms/document/integration-limits.ts'
import { BackendEdits } from '../../../../src/core/rooms/edits/backend-edits.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { roomsOn } from '../../../support/data/rooms.ts'
import { block, contents, item, list, updateOf } from '../../../support/data/update-builder.ts'
import { HeldClock } from '../../../support/time/clock.ts'

const address = { workspaceId: 'w', apiKey: 'k', organizationId: 'o', documentId: 'd', editorId: 'e' }

it('[ROOM-65] opens a large document in slices before backends read it or change it, and before its state is encoded', async () => {
  const clock = new HeldClock()
  const engine = await openMemoryEngine({ clock })
  const rooms = roomsOn(engine, { computeThreads: 1 }, { clock })
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
