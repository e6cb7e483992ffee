import { dataOf, type TestServer } from '../servers/server.ts'

/**
 * Creates the organization `acme` with documents, folders, users and a group. Tests of the console pages use
 * it.
 */
export async function prepareAcme(weft: TestServer): Promise<void> {
  const organizationId = 'acme'
  const call = async (path: string, data: object) => dataOf(await weft.post(path, data))
  await call('/v2/organizations/add', { organizations: [{ organizationId, organizationName: 'Acme' }] })
  const folders = [
    { folderId: 'reports', folderName: 'Reports' },
    { folderId: 'y2026', folderName: '2026', parentFolderId: 'reports' },
  ]
  await call('/v1/organizations/folders/add', { organizationId, folders })
  const documents = [{ documentId: 'notes' }, { documentId: 'budget', folderId: 'y2026' }]
  await call('/v2/organizations/documents/add', { organizationId, documents })
  const users = [
    { userId: 'ann', name: 'Ann', email: 'ann@example.com', accessRole: 'editor' },
    { userId: 'bob' },
  ]
  await call('/v2/users/add', { organizationId, users })
  const group = { organizationId, organizationUserGroupId: 'legal', userIds: ['bob'] }
  await call('/v1/organizations/usergroups/users/add', group)
}
