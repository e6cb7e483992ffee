import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { directoryRole } from '../../../src/core/access/roles/directory-role.ts'
import {
  keys,
  type OrganizationScope,
  type Resource,
  type Subject,
} from '../../../src/core/directory/organizations/organization-keys.ts'
import { indexedExpiry, indexedResource } from '../../../src/core/directory/permissions/grants.ts'
import type { BatchItemResult } from '../../../src/core/directory/store/batch.ts'
import type { AccessRole, AccessType, GrantRecord } from '../../../src/core/directory/store/records.ts'
import { decodeRecord } from '../../../src/core/store/stored-record.ts'
import { AccessModel } from '../../support/data/access-model.ts'
import { type OpenDirectory, openDirectory } from '../../support/data/directory.ts'
import { times } from '../../support/time/full-run.ts'

const scope: OrganizationScope = { workspaceId: 'ws', apiKey: 'key', organizationId: 'acme' }
const folders = ['f1', 'f2', 'f3', 'f4', 'f5']
const documents = ['d1', 'd2', 'd3']
const users = ['ann', 'bob']
const groups = ['g1', 'g2']

let directory: OpenDirectory
beforeEach(async () => {
  directory = await openDirectory()
})
afterEach(() => directory.close())

/** An action on the services and on the model. */
type Action = (model: AccessModel) => Promise<void>

const resourceOf = (name: string): Resource => {
  if (name === 'organization') return { type: 'organization', id: scope.organizationId }
  return { type: folders.includes(name) ? 'folder' : 'document', id: name }
}
const subjectOf = (name: string): Subject => ({ type: groups.includes(name) ? 'group' : 'user', id: name })
const succeeded = (results: Record<string, BatchItemResult>): boolean =>
  Object.values(results).every(({ success }) => success)

const user = fc.constantFrom(...users)
const group = fc.constantFrom(...groups)
const subject = fc.constantFrom(...users, ...groups)
const folder = fc.constantFrom(...folders)
const document = fc.constantFrom(...documents)
const resource = fc.constantFrom(...folders, ...documents, 'organization')
const role = fc.constantFrom<AccessRole>('editor', 'suggester', 'viewer')
const accessType = fc.constantFrom<AccessType>('public', 'organizationPrivate', 'restricted')

const grants = fc.record({ subject, resource, role, lastsSeconds: fc.constantFrom(1, 2, 5, null) }).map(
  ({ subject, resource, role, lastsSeconds }): Action =>
    async (model) => {
      const expiresAt = lastsSeconds === null ? null : model.now / 1000 + lastsSeconds
      const grant = { accessRole: role, expiresAt }
      const input = { organizationId: scope.organizationId, resource: resourceOf(resource), grant }
      await directory.permissions.add(scope, subjectOf(subject), [input])
      model.grant(subject, resource, role, expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt * 1000)
    },
)

const revocations = fc.record({ subject, resource }).map(
  ({ subject, resource }): Action =>
    async (model) => {
      const input = { organizationId: scope.organizationId, resource: resourceOf(resource) }
      await directory.permissions.remove(scope, subjectOf(subject), [input])
      model.revoke(subject, resource)
    },
)

const additions = fc.record({ user, resource, role }).map(
  ({ user, resource, role }): Action =>
    async (model) => {
      await directory.users.add(scope, resourceOf(resource), [{ userId: user, accessRole: role }])
      model.grant(user, resource, role, Number.POSITIVE_INFINITY)
    },
)

const departures = fc.record({ user }).map(
  ({ user }): Action =>
    async (model) => {
      await directory.users.remove(scope, resourceOf('organization'), [user])
      model.forget(user)
    },
)

const joins = fc.record({ user, group }).map(
  ({ user, group }): Action =>
    async (model) => {
      await directory.groups.addUsers(scope, group, [user])
      model.memberships.push({ user, group })
    },
)

const leaves = fc.record({ user, group }).map(
  ({ user, group }): Action =>
    async (model) => {
      await directory.groups.removeUsers(scope, group, [user])
      const others = model.memberships.filter((each) => each.user !== user || each.group !== group)
      model.memberships.splice(0, model.memberships.length, ...others)
    },
)

const groupDeletions = fc.record({ group }).map(
  ({ group }): Action =>
    async (model) => {
      await directory.groups.remove(scope, [group])
      await directory.groups.add(scope, [{ groupId: group }])
      model.forget(group)
    },
)

const folderMoves = fc.record({ folder, parent: fc.constantFrom(...folders, 'root') }).map(
  ({ folder, parent }): Action =>
    async (model) => {
      const done = await directory.folders.update(scope, [{ folderId: folder, parentFolderId: parent }])
      expect(succeeded(done)).toBe(parent === 'root' || !model.isBelow(parent, folder))
      if (!succeeded(done)) return
      if (parent === 'root') model.parents.delete(folder)
      else model.parents.set(folder, parent)
    },
)

const documentMoves = fc.record({ document, folder }).map(
  ({ document, folder }): Action =>
    async (model) => {
      await directory.documents.move(scope, [document], folder)
      model.parents.set(document, folder)
    },
)

const types = fc.record({ resource, accessType }).map(
  ({ resource, accessType }): Action =>
    async (model) => {
      const { type, id } = resourceOf(resource)
      if (type === 'organization') return
      if (type === 'folder') await directory.folders.update(scope, [{ folderId: id, accessType }])
      else await directory.documents.update(scope, [{ documentId: id, accessType }])
      model.accessTypes.set(id, accessType)
    },
)

const cuts = fc.record({ folder, inheritAccessFromParent: fc.boolean() }).map(
  ({ folder, inheritAccessFromParent }): Action =>
    async (model) => {
      await directory.folders.update(scope, [{ folderId: folder, inheritAccessFromParent }])
      if (inheritAccessFromParent) model.closedAbove.delete(folder)
      else model.closedAbove.add(folder)
    },
)

const waits = fc.constantFrom(500, 1000, 3000).map(
  (ms): Action =>
    async (model) => {
      directory.clock.advance(ms)
      model.now += ms
    },
)

const action = fc.oneof(
  { weight: 4, arbitrary: grants },
  revocations,
  additions,
  departures,
  { weight: 2, arbitrary: joins },
  leaves,
  groupDeletions,
  { weight: 2, arbitrary: folderMoves },
  documentMoves,
  { weight: 2, arbitrary: types },
  cuts,
  waits,
)

async function buildTree(): Promise<void> {
  await directory.organizations.ensure(scope)
  await directory.folders.add(
    scope,
    folders.map((folderId) => ({ folderId })),
  )
  await directory.documents.add(
    scope,
    documents.map((documentId) => ({ documentId })),
    { createFolder: false },
  )
  await directory.groups.add(
    scope,
    groups.map((groupId) => ({ groupId })),
  )
}

/** Checks that the index of each subject has exactly its grants, with their expiry. */
async function checkIndex(): Promise<void> {
  const reader = directory.store.read(scope)
  const grants = await reader.scan({ prefix: ['grants'], limit: 1_000 })
  const index = await reader.scan({ prefix: ['grantsOf'], limit: 1_000 })
  const wanted = grants.map(({ key: [, type, id, subjectType, subjectId], value }) =>
    JSON.stringify([subjectType, subjectId, type, id, (decodeRecord(value) as GrantRecord).expiresAt]),
  )
  const found = index.map((entry) => {
    const [, subjectType, subjectId] = entry.key
    const { type, id } = indexedResource(entry)
    return JSON.stringify([subjectType, subjectId, type, id, indexedExpiry(entry)])
  })
  expect(found.toSorted()).toEqual(wanted.toSorted())
}

/** Checks the roles on everything, by the AccessReader and by the permissions report. */
async function check(model: AccessModel): Promise<void> {
  const query = { userIds: users, folderIds: folders, documentIds: documents }
  const report = await directory.permissionReader.read(scope, query)
  expect(report.complete).toBe(true)
  for (const userId of users) {
    const reported = report.users[userId]
    for (const documentId of documents) {
      const { levels, member } = await directory.reader.read(scope, documentId, userId)
      const { role, until } = directoryRole(levels, member, model.now)
      expect(role).toBe(model.roleOn(userId, documentId))
      expect(reported?.documents[documentId]).toMatchObject(shown(role))
      const last = Number.isFinite(until) ? until - 1 : model.now + 1e12
      expect(directoryRole(levels, member, last).role).toBe(role)
    }
    for (const folderId of folders)
      expect(reported?.folders[folderId]).toMatchObject(shown(model.roleOn(userId, folderId)))
    expect(reported?.organization.acme).toMatchObject(shown(model.roleIn(userId)))
  }
}

const shown = (role: AccessRole | null) =>
  role === null ? { errorCode: 'permission_denied' } : { accessRole: role }

it(
  '[ACC-56] after any sequence of actions, returns the roles that a simple model computes',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), async (actions) => {
        await directory.close()
        directory = await openDirectory()
        await buildTree()
        const model = new AccessModel(directory.clock.now())
        for (const act of actions) {
          await act(model)
          await check(model)
          await checkIndex()
        }
      }),
      { numRuns: times(50, 150) },
    )
  },
  times(60_000, 300_000),
)

const roleOn = async (documentId: string, userId: string) => {
  const { levels, member } = await directory.reader.read(scope, documentId, userId)
  return directoryRole(levels, member, directory.clock.now()).role
}

it('[ACC-52] gives every user the role editor on a document or organization without a record', async () => {
  expect(await roleOn('unknown', 'ann')).toBe('editor')
})

it('[ACC-55] treats a user with one unexpired grant among many expired grants as a member', async () => {
  await buildTree()
  const nowSeconds = directory.clock.now() / 1000
  const many = Array.from({ length: 1_500 }, (_, index) => `many-${index}`)
  for (let at = 0; at < many.length; at += 500)
    await directory.documents.add(
      scope,
      many.slice(at, at + 500).map((documentId) => ({ documentId })),
      { createFolder: false },
    )
  await directory.permissions.add(
    scope,
    subjectOf('ann'),
    many.map((id) => ({
      organizationId: scope.organizationId,
      resource: { type: 'document', id },
      grant: { accessRole: 'editor', expiresAt: id === 'many-700' ? nowSeconds + 100 : nowSeconds + 1 },
    })),
  )
  await directory.documents.update(scope, [{ documentId: 'd1', accessType: 'organizationPrivate' }])
  directory.clock.advance(5_000)
  expect([await roleOn('d1', 'ann'), await roleOn('d1', 'bob')]).toEqual(['viewer', null])
  directory.clock.advance(100_000)
  expect(await roleOn('d1', 'ann')).toBeNull()
})

it('[ACC-57] gives no access to a document while the document, its folder or its organization is being deleted', async () => {
  await buildTree()
  await directory.documents.move(scope, ['d1'], 'f1')
  await directory.users.add(scope, resourceOf('organization'), [{ userId: 'ann' }])
  await directory.users.add(scope, resourceOf('d1'), [{ userId: 'ann' }])
  expect(await roleOn('d1', 'ann')).toBe('editor')
  const mark = async (key: readonly string[]) => {
    let before: object = {}
    await directory.store.change(scope, async (transaction) => {
      before = (await transaction.get(key)) ?? {}
      transaction.put(key, { ...before, deleting: true })
    })
    const role = await roleOn('d1', 'ann')
    await directory.store.change(scope, async (transaction) => transaction.put(key, before))
    return role
  }
  for (const key of [keys.document('d1'), keys.folder('f1'), keys.organization])
    expect(await mark(key)).toBeNull()
  expect(await roleOn('d1', 'ann')).toBe('editor')
})

it('[ACC-57] keeps access to a document if it moves to another folder and its old folder is deleted while the access is read', async () => {
  await buildTree()
  await directory.documents.move(scope, ['d1'], 'f1')
  let moved = false
  const { kv } = directory.engine
  const get = kv.get.bind(kv)
  kv.get = async (part, wanted) => {
    if (!moved && wanted.some((key) => key[0] === 'folders' && key[1] === 'f1')) {
      moved = true
      await directory.documents.move(scope, ['d1'], 'f2')
      await directory.store.change(scope, async (transaction) => transaction.delete(keys.folder('f1')))
    }
    return get(part, wanted)
  }
  expect(await roleOn('d1', 'ann')).toBe('editor')
  expect(moved).toBe(true)
})
