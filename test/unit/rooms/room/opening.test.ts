import { expect, it } from 'vitest'
import * as Y from 'yjs'
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
  const missing = await stored('missing', [1, 2])
  await missing.edits.missing(Uint8Array.of(1, 9, 1))
  expect(missing.room.state.opened).not.toBeNull()
  const changed = await stored('changed', [1, 2])
  await changed.edits.apply('', updateOf([block(3, [item({ parent: '3' }, contents.embed)])]), {
    expects: 'content',
  })
  expect(changed.room.state.opened).not.toBeNull()
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  await engine.close()
})

it('[ROOM-72] shares the slices of the encoding among all callers, and lets updates wait for them', async () => {
  const clock = new HeldClock()
  const engine = await openMemoryEngine({ clock })
  const rooms = roomsOn(engine, {}, { clock })
  const text = (client: number, length: number): Uint8Array =>
    updateOf([block(client, [item({ parent: 't' }, contents.text('x'.repeat(length)))])])
  await engine.log.append(addressKey(address), 'create', [{ bytes: text(1, 1_500_000), by: '' }])
  const { room } = await rooms.open(address)
  const edits = new BackendEdits(room)
  await edits.apply('', text(2, 1), { expects: 'content' })
  const { state } = room
  expect(state.isSlowToEncode).toBe(true)
  const [first, second] = [room.whenEncoded((sliced) => sliced), room.whenEncoded((sliced) => sliced)]
  await Promise.resolve()
  expect(room.lock.held).not.toBeNull()
  expect(await first).toBe(await second)
  expect((await first)?.bytes).toBe(state.encode())
  expect(room.lock.held).toBeNull()
  await edits.apply('', text(3, 1), { expects: 'content' })
  const captured = await edits.capture()
  expect(Buffer.compare(captured?.bytes ?? new Uint8Array(0), Y.encodeStateAsUpdate(state.doc))).toBe(0)
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  await engine.close()
})

it('[LIM-4] counts no place for a document whose room has ended before its users leave', async () => {
  const clock = new HeldClock()
  const engine = await openMemoryEngine({ clock })
  const rooms = roomsOn(engine, { documentsPerWorkspaceMax: 2 }, { clock })
  const open = (documentId: string) => rooms.open({ ...address, documentId })
  const ended = await open('ended')
  ended.room.close(close('serviceRestart', 'the room has failed'))
  ended.release()
  await open('first')
  await open('second')
  await expect(open('third')).rejects.toMatchObject({ status: 'RESOURCE_EXHAUSTED' })
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  await engine.close()
})
