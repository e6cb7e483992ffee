import { expect, it } from 'vitest'
import { writeFolderPatches } from '../../../src/core/directory/documents/folder-writes.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { directoryOn, type TestDirectory, tenant } from '../../support/data/directory.ts'

const scope = { ...tenant, organizationId: 'acme' }
const move = (folderId: string, parentFolderId: string) => ({ folderId, parentFolderId })

/**
 * A chain of 30 folders `n1` to `n30`, a chain of the two folders `s1` and `s2`, and the single folder `z`.
 */
async function deepTree(): Promise<TestDirectory> {
  const directory = directoryOn(await openMemoryEngine())
  await directory.organizations.ensure(scope)
  const chain = (name: string, length: number) =>
    Array.from({ length }, (_, at) => move(`${name}${at + 1}`, at === 0 ? 'root' : `${name}${at}`))
  await directory.folders.add(scope, [...chain('n', 30), ...chain('s', 2), { folderId: 'z' }])
  return directory
}

/** Moves a folder, and runs `other` as soon as the tree has been read. */
async function raced(
  { store }: TestDirectory,
  wanted: ReturnType<typeof move>,
  other: () => Promise<unknown>,
) {
  let attempts = 0
  const results = await store.change(scope, (transaction) => {
    attempts += 1
    const isFirst = attempts === 1
    const scan = transaction.scan.bind(transaction)
    const scanThenOther: typeof scan = async (range) => {
      const entries = await scan(range)
      if (isFirst) await other()
      return entries
    }
    return writeFolderPatches(Object.assign(transaction, { scan: scanThenOther }), [wanted], {
      now: 0,
      defaultAccess: 'public',
    })
  })
  expect(attempts).toBe(2)
  return results[wanted.folderId]
}

it('[FOLD-8] checks the move of a folder again if folders are added or moved below it in the meantime', async () => {
  const adding = await deepTree()
  const added = () => adding.folders.add(scope, [move('s3', 's2')])
  expect(await raced(adding, move('s1', 'n30'), added)).toMatchObject({ success: false })
  const moving = await deepTree()
  const moved = () => moving.folders.update(scope, [move('z', 's2')])
  expect(await raced(moving, move('s1', 'n30'), moved)).toMatchObject({ success: false })
  const fitting = await deepTree()
  expect(
    await raced(fitting, move('s1', 'n29'), () => fitting.folders.add(scope, [move('s3', 's2')])),
  ).toMatchObject({
    success: true,
  })
})

it('[FOLD-7] checks the move of a folder again if its target folder is moved or deleted in the meantime', async () => {
  const moving = await deepTree()
  const moved = () => moving.folders.update(scope, [move('s1', 'z')])
  expect(await raced(moving, move('z', 's2'), moved)).toMatchObject({ success: false })
  const deleting = await deepTree()
  const deleted = () => deleting.folders.delete(scope, 's1')
  expect(await raced(deleting, move('z', 's2'), deleted)).toMatchObject({ success: false })
})
