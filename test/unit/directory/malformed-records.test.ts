import { expect, it } from 'vitest'
import { keys, organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { TenantStore } from '../../../src/core/directory/tenants/tenant-store.ts'
import { workspaceKeys, workspacesPart } from '../../../src/core/directory/tenants/workspace-keys.ts'
import type { Key } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { encodeRecord } from '../../../src/core/store/stored-record.ts'
import { directoryOn, scopeOf, type TestDirectory, tenant } from '../../support/data/directory.ts'

const scope = scopeOf(tenant, 'acme')
const part = organizationPart(scope)

/** A document in a folder in another folder. */
async function openNested(): Promise<TestDirectory> {
  const directory = directoryOn(await openMemoryEngine())
  await directory.organizations.ensure(scope)
  await directory.folders.add(scope, [{ folderId: 'outer' }, { folderId: 'inner', parentFolderId: 'outer' }])
  await directory.documents.add(scope, [{ documentId: 'd', folderId: 'inner' }], { createFolder: false })
  return directory
}

/** Removes a member of a stored record. */
async function damage({ engine }: TestDirectory, key: Key, member: string): Promise<void> {
  const [value = null] = await engine.kv.get(part, [key])
  const record: object = JSON.parse(Buffer.from(value ?? []).toString())
  const left = Object.fromEntries(Object.entries(record).filter(([name]) => name !== member))
  await engine.kv.commit(part, { puts: [{ key, value: encodeRecord(left) }] })
}

it.each([
  { kind: 'document', key: keys.document('d'), member: 'accessType' },
  { kind: 'folder', key: keys.folder('outer'), member: 'inheritAccessFromParent' },
  { kind: 'organization', key: keys.organization, member: 'metadata' },
  {
    kind: 'grant',
    key: keys.grant({ type: 'document', id: 'd' }, { type: 'user', id: 'ann' }),
    member: 'accessRole',
  },
])(
  '[STORE-25] a malformed $kind makes the access check fail, and grants no access',
  async ({ kind, key, member }) => {
    const directory = await openNested()
    const resource = { type: 'document', id: 'd' } as const
    await directory.users.add(scope, resource, [{ userId: 'ann', accessRole: 'viewer' }])
    await damage(directory, key, member)
    await expect(directory.reader.read(scope, 'd', 'ann')).rejects.toThrow(
      `the stored ${kind} ${JSON.stringify(key)} is malformed: ${member} must be`,
    )
    await directory.engine.close()
  },
)

it('[STORE-25] does not accept an auth token whose record is malformed', async () => {
  const engine = await openMemoryEngine()
  const tenants = new TenantStore(engine.kv)
  const key = workspaceKeys.authToken(tenant, 'default')
  await engine.kv.commit(workspacesPart, {
    puts: [{ key, value: encodeRecord({ token: 'secret', name: 'default', createdAt: 1 }) }],
  })
  const problem = `the stored auth token ${JSON.stringify(key)} is malformed: domains must be`
  await expect(tenants.validTokens(tenant, 1)).rejects.toThrow(problem)
  await engine.close()
})

it.each(['outer', 'inner'])(
  '[STORE-25] deletes the folder %s even if it contains malformed documents and folders',
  async (folderId) => {
    const directory = await openNested()
    await damage(directory, keys.document('d'), 'metadata')
    if (folderId === 'outer') await damage(directory, keys.folder('inner'), 'folderName')
    directory.removals.start()
    await directory.folders.delete(scope, folderId)
    const left = await directory.store.read(scope).getAll([keys.document('d'), keys.folder('inner')])
    expect(left).toEqual([null, null])
    await directory.removals.stop()
    await directory.engine.close()
  },
)
