import { expect, it } from 'vitest'
import { close } from '../../../../src/core/model/close.ts'
import { BackendEdits } from '../../../../src/core/rooms/edits/backend-edits.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import { rangesPerStep } from '../../../../src/core/update/outline.ts'
import { roomsOn } from '../../../support/data/rooms.ts'
import { block, contents, item, list, updateOf } from '../../../support/data/update-builder.ts'

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
  const rooms = roomsOn(engine)
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
