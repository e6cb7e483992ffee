import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { directoryRole } from '../../../src/core/access/roles/directory-role.ts'
import { putMembership, removeMembership } from '../../../src/core/directory/organizations/user-records.ts'
import { putGrant } from '../../../src/core/directory/permissions/grants.ts'
import type { AccessRole } from '../../../src/core/directory/store/records.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { directoryOn, openDirectory, scopeOf, tenant } from '../../support/data/directory.ts'
import { countReads } from '../../support/stores/counted-store.ts'

const scope = scopeOf(tenant, 'acme')
const depth = 32
const groups = 100
const documentIds = Array.from({ length: 40 }, (_, index) => `d${index}`)
const groupIds = Array.from({ length: groups }, (_, index) => `g${index}`)
const folderIds = Array.from({ length: depth }, (_, index) => `f${index}`)

/**
 * An organization in which ann is in all groups. One group is viewer on the folder in the middle, with all
 * documents.
 */
async function deepOrganization() {
  const { engine, reads } = countReads(await openMemoryEngine())
  const directory = directoryOn(engine)
  await directory.organizations.ensure(scope)
  const folders = folderIds.map((folderId, index) => ({
    folderId,
    parentFolderId: folderIds[index - 1] ?? 'root',
  }))
  await directory.folders.add(scope, folders)
  const documents = documentIds.map((documentId) => ({ documentId, folderId: `f${depth - 1}` }))
  await directory.documents.add(scope, documents, { createFolder: false })
  await directory.store.change(scope, async (transaction) => {
    for (const groupId of groupIds) putMembership(transaction, { groupId, userId: 'ann' })
    const [resource, grant] = [
      { type: 'folder', id: 'f15' },
      { accessRole: 'viewer', expiresAt: null },
    ] as const
    await putGrant(transaction, resource, { type: 'group', id: 'g50' }, grant)
  })
  const readsOf = async (work: () => Promise<unknown>) => {
    const before = reads()
    await work()
    return reads() - before
  }
  return { ...directory, readsOf }
}

it('[PERM-13] reads few records for each additional document in deep folders, regardless of the number of groups', async () => {
  const { permissionReader, readsOf, engine } = await deepOrganization()
  const report = (ids: readonly string[]) =>
    permissionReader.read(scope, { userIds: ['ann'], folderIds: [], documentIds: ids })
  const { users } = await report(documentIds)
  const viewer = { accessRole: 'viewer', accessType: 'public' }
  expect(users.ann?.documents).toMatchObject(Object.fromEntries(documentIds.map((id) => [id, viewer])))
  const few = await readsOf(() => report(documentIds.slice(0, 10)))
  const many = await readsOf(() => report(documentIds))
  expect((many - few) / 30).toBeLessThanOrEqual(4)
  expect(few).toBeLessThan(4 * (groups + depth + 10))
  await engine.close()
})

it('[ACC-58] reads few records for a user with many groups and a document in deep folders', async () => {
  const { reader, readsOf, engine } = await deepOrganization()
  const { levels, member } = await reader.read(scope, 'd0', 'ann')
  expect(directoryRole(levels, member, 0).role).toBe('viewer')
  expect(await readsOf(() => reader.read(scope, 'd0', 'ann'))).toBeLessThan(4 * (groups + depth))
  await engine.close()
})

const someGroups = fc.subarray(groupIds.slice(0, 12), { minLength: 4 })
const someGrants = fc.uniqueArray(
  fc.record({
    groupId: fc.constantFrom(...groupIds.slice(0, 40)),
    accessRole: fc.constantFrom<AccessRole>('editor', 'viewer'),
  }),
  { selector: ({ groupId }) => groupId, maxLength: 40, size: 'max' },
)

it("[ACC-58] applies all grants of the user's groups on a resource, and no other grants", async () => {
  const { store, reader, close } = await openDirectory()
  let runs = 0
  await fc.assert(
    fc.asyncProperty(someGroups, someGrants, async (mine, grants) => {
      const own = scopeOf(tenant, `organization ${++runs}`)
      await store.change(own, async (transaction) => {
        for (const groupId of mine) putMembership(transaction, { groupId, userId: 'ann' })
        for (const { groupId, accessRole } of grants) {
          const grant = { accessRole, expiresAt: null }
          await putGrant(transaction, { type: 'document', id: 'd' }, { type: 'group', id: groupId }, grant)
        }
      })
      const { levels } = await reader.read(own, 'd', 'ann')
      const found = levels[0]?.groups.map(({ accessRole }) => accessRole)
      const wanted = grants.filter(({ groupId }) => mine.includes(groupId))
      expect(found?.toSorted()).toEqual(wanted.map(({ accessRole }) => accessRole).toSorted())
    }),
    { numRuns: 300 },
  )
  await close()
})

it('[GRP-6] reads no groups while no group has users; when a group gets its first user, applies the grants of the group to this user', async () => {
  const { engine, reads } = countReads(await openMemoryEngine())
  const { store, reader } = directoryOn(engine)
  const readsOf = async () => {
    const before = reads()
    const { levels } = await reader.read(scope, 'd', 'ann')
    return { reads: reads() - before, groups: levels[0]?.groups.length ?? 0 }
  }
  const first = await readsOf()
  expect(await readsOf()).toEqual({ reads: first.reads - 1, groups: 0 })
  await store.change(scope, async (transaction) => {
    putMembership(transaction, { groupId: 'g', userId: 'ann' })
    const grant = { accessRole: 'editor', expiresAt: null } as const
    await putGrant(transaction, { type: 'document', id: 'd' }, { type: 'group', id: 'g' }, grant)
  })
  expect((await readsOf()).groups).toBe(1)
  await store.change(scope, async (transaction) => {
    removeMembership(transaction, { groupId: 'g', userId: 'ann' })
  })
  expect((await readsOf()).groups).toBe(0)
  await engine.close()
})
