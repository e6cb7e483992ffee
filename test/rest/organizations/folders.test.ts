import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type Folder,
  newOrganization,
  oddIds,
  organizationCalls,
  outcomes,
  statusOf,
} from '../../support/data/folder-tree.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

/** A chain of folders, each in the one before: `prefix1`, `prefix2`, and so on. */
const chain = (prefix: string, length: number, top = 'root') =>
  Array.from({ length }, (_, index) => ({
    folderId: `${prefix}${index + 1}`,
    parentFolderId: index === 0 ? top : `${prefix}${index}`,
  }))

/** Ids with the ids of their subfolders. */
type Nested = { readonly [id: string]: Nested | null }
const nested = (folders: readonly Folder[]): Nested =>
  Object.fromEntries(
    folders.map(({ folderId, subFolders }) => [folderId, subFolders ? nested(subFolders) : null]),
  )

it('[FOLD-1] adds folders with name and parent (`root` by default), and returns them by id', async () => {
  const { organizationId, v1, v2 } = await newOrganization(server)
  const answer = await v1('folders/add', {
    folders: [
      { folderId: 'a', folderName: 'Letter A', parentFolderId: 'root' },
      { folderId: 'b', parentFolderId: 'a' },
      { folderId: 'c' },
    ],
  })
  const done = (id: string) => ({ success: true, id, message: expect.any(String) })
  expect(dataOf(answer)).toEqual({ a: done('a'), b: done('b'), c: done('c') })
  const times = { createdAt: expect.any(Number), lastUpdated: expect.any(Number) }
  const all = [
    { folderId: 'a', folderName: 'Letter A', organizationId, parentFolderId: 'root', ...times },
    { folderId: 'b', folderName: '', organizationId, parentFolderId: 'a', ...times },
    { folderId: 'c', folderName: '', organizationId, parentFolderId: 'root', ...times },
  ]
  expect(dataOf(await v1('folders/get'))).toEqual(all)
  const more = { apiKey: server.credentials.apiKey, accessType: 'public', inheritAccessFromParent: true }
  expect(dataOf(await v2('folders/get'))).toEqual([
    { ...all[0], ...more, ancestors: ['root'] },
    { ...all[1], ...more, ancestors: ['root', 'a'] },
    { ...all[2], ...more, ancestors: ['root'] },
  ])
})

it('[FOLD-2] accepts nested folders in one call in any order, and rejects a folder whose parent is missing', async () => {
  const { addFolders, folders } = await newOrganization(server)
  const tree = [...chain('x', 10), { folderId: 'y', parentFolderId: 'x3' }]
  const orphans = [
    { folderId: 'orphan', parentFolderId: 'none' },
    { folderId: 'child', parentFolderId: 'orphan' },
    { folderId: 'egg', parentFolderId: 'hen' },
    { folderId: 'hen', parentFolderId: 'egg' },
    { folderId: 'own', parentFolderId: 'own' },
  ]
  const results = await addFolders(...[...tree, ...orphans].toReversed())
  for (const { folderId } of tree) expect(results[folderId]).toBe(true)
  for (const { folderId } of orphans) expect(results[folderId]).toBe('the parent folder does not exist')
  expect((await folders({ folderId: 'y' }))[0]?.ancestors).toEqual(['root', 'x1', 'x2', 'x3'])
  expect(await folders()).toHaveLength(tree.length)
})

it('[FOLD-3] rejects a new folder with an existing id and any change of the folder `root`, and changes nothing', async () => {
  const { addFolders, updateFolders, folders, v1 } = await newOrganization(server)
  await addFolders({ folderId: 'used', folderName: 'First' })
  expect(await addFolders({ folderId: 'used', folderName: 'Second' }, { folderId: 'root' })).toEqual({
    used: 'the folder exists already',
    root: 'the id root is reserved',
  })
  expect(await updateFolders({ folderId: 'root', folderName: 'Mine' })).toEqual({
    root: 'the id root is reserved',
  })
  expect(statusOf(await v1('folders/delete', { folderId: 'root' }))).toBe('INVALID_ARGUMENT')
  expect(statusOf(await v1('folders/get', { folderId: 'root' }))).toBe('NOT_FOUND')
  expect(await folders()).toMatchObject([{ folderId: 'used', folderName: 'First' }])
})

it('[FOLD-4] returns a folder with its direct subfolders, and in version 2 with all subfolders down to maxDepth', async () => {
  const { addFolders, v1, folders } = await newOrganization(server)
  await addFolders(...chain('d', 5), { folderId: 'e', parentFolderId: 'd2' })
  const get = async (data: object) => nested(await folders({ folderId: 'd1', ...data }))
  expect(nested(dataOf(await v1('folders/get', { folderId: 'd1' })) as Folder[])).toEqual({
    d1: { d2: null },
  })
  expect(nested(dataOf(await v1('folders/get', { folderId: 'd1', maxDepth: 3 })) as Folder[])).toEqual({
    d1: { d2: null },
  })
  expect(await get({})).toEqual({ d1: { d2: null } })
  expect(await get({ maxDepth: 1 })).toEqual({ d1: { d2: null } })
  expect(await get({ maxDepth: 2 })).toEqual({ d1: { d2: { d3: null, e: null } } })
  expect(await get({ maxDepth: 1_000 })).toEqual({ d1: { d2: { d3: { d4: { d5: {} } }, e: {} } } })
  const [deep] = await folders({ folderId: 'd4', maxDepth: 9 })
  expect(deep?.subFolders?.[0]).toMatchObject({ folderId: 'd5', ancestors: ['root', 'd1', 'd2', 'd3', 'd4'] })
  expect(await get({ maxDepth: 0 })).toEqual({ d1: null })
  for (const maxDepth of [-1, 1.5, '2'])
    expect(statusOf(await organizationCalls(server, 'any').v2('folders/get', { maxDepth }))).toBe(
      'INVALID_ARGUMENT',
    )
})

it('[FOLD-5] returns NOT_FOUND for an unknown folder or organization', async () => {
  const { v1, v2 } = await newOrganization(server)
  const none = organizationCalls(server, 'no such organization')
  for (const call of [v1, v2]) {
    expect(statusOf(await call('folders/get', { folderId: 'none' }))).toBe('NOT_FOUND')
    expect(statusOf(await call('folders/delete', { folderId: 'none' }))).toBe('NOT_FOUND')
  }
  for (const operation of ['add', 'update'])
    expect(
      statusOf(
        await none.v1(`folders/${operation}`, {
          folders: [],
          ...(operation === 'add' && { createMissing: false }),
        }),
      ),
    ).toBe('NOT_FOUND')
  for (const call of [none.v1, none.v2]) {
    expect(statusOf(await call('folders/get'))).toBe('NOT_FOUND')
    expect(statusOf(await call('folders/delete', { folderId: 'any' }))).toBe('NOT_FOUND')
  }
  const access = { folderIds: ['any'], accessType: 'public' }
  expect(statusOf(await none.v2('folders/access/update', access))).toBe('NOT_FOUND')
})

it('[FOLD-6] changes the given members of a folder, and moves a folder with its content to another parent', async () => {
  const { addFolders, addDocuments, updateFolders, folders, documents } = await newOrganization(server)
  await addFolders(...chain('m', 3), { folderId: 'target', folderName: 'Target' })
  await addDocuments({ documentId: 'inside', folderId: 'm3' })
  expect(
    await updateFolders(
      { folderId: 'm2', parentFolderId: 'target' },
      { folderId: 'target', folderName: 'New' },
      { folderId: 'none', folderName: 'None' },
      { folderId: 'm1', parentFolderId: 'nowhere' },
    ),
  ).toEqual({
    m2: true,
    target: true,
    none: 'the folder does not exist',
    m1: 'the parent folder does not exist',
  })
  expect(nested(await folders({ folderId: 'target', maxDepth: 9 }))).toEqual({ target: { m2: { m3: {} } } })
  expect(nested(await folders({ folderId: 'm1', maxDepth: 9 }))).toEqual({ m1: {} })
  expect((await folders({ folderId: 'm3' }))[0]?.ancestors).toEqual(['root', 'target', 'm2'])
  expect((await folders({ folderId: 'target' }))[0]?.folderName).toBe('New')
  expect(await documents({ folderId: 'm3' })).toMatchObject([{ id: 'inside' }])
  expect(await updateFolders({ folderId: 'm2', parentFolderId: 'root' })).toEqual({ m2: true })
  expect((await folders({ folderId: 'm3' }))[0]?.ancestors).toEqual(['root', 'm2'])
})

it('[FOLD-7] never moves a folder below itself, neither by one move, by several moves of a call, nor by concurrent moves', async () => {
  const { addFolders, updateFolders, folders } = await newOrganization(server)
  const cycle = 'a folder cannot be moved below itself'
  await addFolders(...chain('c', 3), { folderId: 'p' }, { folderId: 'q' })
  expect(await updateFolders({ folderId: 'c1', parentFolderId: 'c3' })).toEqual({ c1: cycle })
  expect(await updateFolders({ folderId: 'c1', parentFolderId: 'c1' })).toEqual({ c1: cycle })
  const swap = [
    { folderId: 'p', parentFolderId: 'q' },
    { folderId: 'q', parentFolderId: 'p' },
  ]
  for (const moves of [swap, swap.toReversed()])
    expect(await updateFolders(...moves)).toEqual({ p: cycle, q: cycle })
  for (let round = 0; round < 10; round += 1) {
    const results = await Promise.all(swap.map((move) => updateFolders(move)))
    expect(results.filter((each) => Object.values(each).includes(true))).toHaveLength(1)
    expect(await folders()).toHaveLength(5)
    await updateFolders(...['p', 'q'].map((folderId) => ({ folderId, parentFolderId: 'root' })))
  }
})

it('[FOLD-8] limits the nesting of folders to 32 levels, both when folders are added and when they are moved', async () => {
  const { addFolders, updateFolders, folders } = await newOrganization(server)
  const tooDeep = 'folders are at most 32 deep; choose a higher parent folder'
  const results = await addFolders(...chain('n', 33))
  expect(results).toMatchObject({ n32: true, n33: tooDeep })
  await addFolders(...chain('s', 3))
  expect(await updateFolders({ folderId: 's1', parentFolderId: 'n30' })).toEqual({ s1: tooDeep })
  expect(await updateFolders({ folderId: 's1', parentFolderId: 'n29' })).toEqual({ s1: true })
  expect((await folders({ folderId: 's3' }))[0]?.ancestors).toHaveLength(32)
  await updateFolders({ folderId: 's1', parentFolderId: 'root' })
  const both = await Promise.all([
    updateFolders({ folderId: 's1', parentFolderId: 'n29' }),
    addFolders({ folderId: 's4', parentFolderId: 's3' }),
  ])
  expect(both.flatMap((each) => Object.values(each)).toSorted()).toEqual([tooDeep, true].toSorted())
})

it('[FOLD-9] accepts moves of one call that are valid only together, in any order', async () => {
  const { addFolders, updateFolders, folders } = await newOrganization(server)
  await addFolders({ folderId: 'a' }, { folderId: 'b', parentFolderId: 'a' })
  const moves = [
    { folderId: 'a', parentFolderId: 'b' },
    { folderId: 'b', parentFolderId: 'root' },
  ]
  expect(await updateFolders(...moves)).toEqual({ a: true, b: true })
  expect(nested(await folders({ folderId: 'b', maxDepth: 5 }))).toEqual({ b: { a: {} } })
  const back = [
    { folderId: 'a', parentFolderId: 'root' },
    { folderId: 'b', parentFolderId: 'a' },
  ]
  expect(await updateFolders(...back.toReversed())).toEqual({ a: true, b: true })
})

it('[FOLD-10] deletes a folder with all its subfolders and documents, and nothing else', async () => {
  const { organizationId, addFolders, addDocuments, folders, documents, v1, v2 } =
    await newOrganization(server)
  await addFolders(...chain('g', 4), { folderId: 'beside', parentFolderId: 'g1' })
  await addDocuments(
    { documentId: 'deep', folderId: 'g4' },
    { documentId: 'shallow', folderId: 'g2' },
    { documentId: 'kept', folderId: 'g1' },
    { documentId: 'free' },
  )
  for (const documentId of ['deep', 'kept'])
    await server.post('/v2/crdt/add', {
      organizationId,
      documentId,
      editorId: 'main',
      type: 'text',
      data: 'text',
    })
  const answer = await v1('folders/delete', { folderId: 'g2' })
  expect(dataOf(answer)).toBeNull()
  expect((await folders()).map(({ folderId }) => folderId)).toEqual(['beside', 'g1'])
  expect(nested(await folders({ folderId: 'g1', maxDepth: 9 }))).toEqual({ g1: { beside: {} } })
  expect((await documents()).map(({ id }) => id)).toEqual(['free', 'kept'])
  const content = (documentId: string) => server.post('/v2/crdt/get', { organizationId, documentId })
  expect(statusOf(await content('deep'))).toBe('NOT_FOUND')
  expect(statusOf(await content('kept'))).toBe('success')
  expect(await addFolders({ folderId: 'g2' }, { folderId: 'g4', parentFolderId: 'g2' })).toEqual({
    g2: true,
    g4: true,
  })
  expect(await documents({ folderId: 'g4' })).toEqual([])
  expect(dataOf(await v2('folders/delete', { folderId: 'g2' }))).toBeNull()
})

it('[FOLD-11] sets the access type and the inheritance of several folders, and returns the effective access type', async () => {
  const { addFolders, folders, v2 } = await newOrganization(server)
  await addFolders(...chain('t', 4))
  const set = async (folderIds: string[], data: object) =>
    outcomes(await v2('folders/access/update', { folderIds, ...data }))
  const types = async () => (await folders()).map(({ accessType }) => accessType)
  expect(await set(['t1', 'none'], { accessType: 'restricted' })).toEqual({
    t1: true,
    none: 'the folder does not exist',
  })
  expect(await types()).toEqual(['restricted', 'restricted', 'restricted', 'restricted'])
  await set(['t3'], { accessType: 'organizationPrivate', inheritAccessFromParent: false })
  expect(await types()).toEqual(['restricted', 'restricted', 'organizationPrivate', 'organizationPrivate'])
  expect((await folders({ folderId: 't3' }))[0]).toMatchObject({ inheritAccessFromParent: false })
  await set(['t3'], { accessType: 'public' })
  expect((await folders({ folderId: 't3' }))[0]).toMatchObject({
    accessType: 'public',
    inheritAccessFromParent: false,
  })
  for (const data of [{}, { accessType: 'private' }, { accessType: 'public', inheritAccessFromParent: 1 }])
    expect(statusOf(await v2('folders/access/update', { folderIds: ['t1'], ...data }))).toBe(
      'INVALID_ARGUMENT',
    )
})

itLong(
  '[FOLD-12] limits an organization to 10,000 folders, and answers every call in limited time if there are that many',
  async () => {
    const { addFolders, updateFolders, folders, v1 } = await newOrganization(server)
    const id = (index: number) => `f${String(index).padStart(5, '0')}`
    const all = Array.from({ length: 10_000 }, (_, index) => ({
      folderId: id(index),
      parentFolderId: index === 0 ? 'root' : id(Math.floor((index - 1) / 2)),
    }))
    for (let at = 0; at < all.length; at += 500)
      expect(Object.values(await addFolders(...all.slice(at, at + 500))).every((each) => each === true)).toBe(
        true,
      )
    const full = 'an organization has at most 10000 folders; delete some'
    expect(await addFolders({ folderId: 'more' }, { folderId: 'and more' })).toEqual({
      more: full,
      'and more': full,
    })
    expect(await folders()).toHaveLength(10_000)
    const [tree] = await folders({ folderId: id(0), maxDepth: 32 })
    expect(tree?.subFolders).toHaveLength(2)
    expect(await updateFolders({ folderId: id(1), parentFolderId: id(2) })).toEqual({ [id(1)]: true })
    expect(await updateFolders({ folderId: id(2), parentFolderId: id(1) })).not.toEqual({ [id(2)]: true })
    expect(dataOf(await v1('folders/delete', { folderId: id(1) }))).toBeNull()
    const left = (await folders()).length
    expect(await addFolders({ folderId: 'more' })).toEqual({ more: true })
    expect(dataOf(await v1('folders/delete', { folderId: id(0) }))).toBeNull()
    expect(left).toBeLessThan(10_000)
    expect((await folders()).map(({ folderId }) => folderId)).toEqual(['more'])
  },
  60_000,
)

it('[API-50] treats ids as opaque: returns any id as it was sent, and finds nothing for a different id', async () => {
  const { addFolders, folders } = await newOrganization(server)
  const [top = '', ...below] = oddIds
  await addFolders(
    { folderId: top },
    ...below.map((folderId) => ({ folderId, parentFolderId: top, folderName: folderId })),
  )
  const [tree] = await folders({ folderId: top })
  expect(tree?.subFolders?.map(({ folderId, folderName }) => [folderId, folderName]).toSorted()).toEqual(
    below.map((id) => [id, id]).toSorted(),
  )
  for (const folderId of oddIds) expect((await folders({ folderId }))[0]?.folderId).toBe(folderId)
})

it('[FOLD-14] separates folders with the same id in two organizations', async () => {
  const [one, two] = [await newOrganization(server), await newOrganization(server)]
  await one.addFolders({ folderId: 'shared', folderName: 'One' })
  await two.addFolders(
    { folderId: 'shared', folderName: 'Two' },
    { folderId: 'below', parentFolderId: 'shared' },
  )
  await one.v1('folders/delete', { folderId: 'shared' })
  expect(await one.folders()).toEqual([])
  expect(nested(await two.folders({ folderId: 'shared' }))).toEqual({ shared: { below: null } })
})

it.each([
  ['add', {}, '/data/folders'],
  ['add', { folders: [{}] }, '/data/folders/0/folderId'],
  ['update', { folders: [{ folderId: 'a', parentFolderId: '' }] }, '/data/folders/0/parentFolderId'],
  ['update', { folders: [{ folderId: 'a', folderName: 'x'.repeat(1_001) }] }, '/data/folders/0/folderName'],
  ['add', { folders: Array.from({ length: 501 }, (_, at) => ({ folderId: `${at}` })) }, '500'],
  ['delete', {}, '/data/folderId'],
])(
  '[API-61] rejects an invalid folder call with INVALID_ARGUMENT and the name of the member: %s %#',
  async (operation, data, says) => {
    const answer = await organizationCalls(server, 'any').v1(`folders/${operation}`, data)
    expect(statusOf(answer)).toBe('INVALID_ARGUMENT')
    expect(answer.body.error?.message).toContain(says)
  },
)
