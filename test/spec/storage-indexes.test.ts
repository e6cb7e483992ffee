import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keys, organizationPart } from '../../src/directory/organization-keys.ts'
import { encodeKey } from '../../src/engine/keys.ts'
import { verify } from '../../src/storage/verify.ts'
import { overwrite, storedPair } from '../contract/level-store.ts'
import { dataOf, startTestServer, type TestServer } from '../support/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-indexes-'))
const [sound, broken] = [join(root, 'sound'), join(root, 'broken')]
const organizationId = 'acme'
let part: readonly string[]

async function post(server: TestServer, path: string, data: object): Promise<unknown> {
  const answer = await server.post(path, { organizationId, ...data })
  expect({ path, status: answer.status }).toEqual({ path, status: 200 })
  return dataOf(answer)
}

beforeAll(async () => {
  const server = await startTestServer({ engine: 'level', data: sound })
  const { workspaceId, apiKey } = server.credentials
  part = organizationPart({ workspaceId, apiKey, organizationId })
  const address = { documentId: 'doc', editorId: 'main' }
  await post(server, '/v2/crdt/add', { ...address, type: 'text', data: 'kept' })
  await post(server, '/v2/crdt/versions/create', address)
  await post(server, '/v1/organizations/folders/add', { folders: [{ folderId: 'folder' }] })
  await post(server, '/v2/users/add', { documentId: 'doc', users: [{ userId: 'ann', accessRole: 'viewer' }] })
  await post(server, '/v1/organizations/usergroups/add', {
    organizationUserGroups: [{ groupId: 'group' }],
  })
  await post(server, '/v1/organizations/usergroups/users/add', {
    organizationUserGroupId: 'group',
    userIds: ['ann'],
  })
  await server.stop()
}, 60_000)

afterAll(() => rmSync(root, { recursive: true, force: true }))

it('[STORE-16] what was written by REST is whole in both directions', async () => {
  expect((await verify(sound, () => undefined)).damages).toEqual([])
})

it.each([
  ['a document without its place', () => keys.documentIn('root', 'doc'), '"documents","doc"'],
  ['a place of no document', () => keys.document('doc'), '"documentsIn","root","doc"'],
  ['a folder without its place', () => keys.folderIn('root', 'folder'), '"folders","folder"'],
  ['a place of no folder', () => keys.folder('folder'), '"foldersIn","root","folder"'],
  ['a member whose groups are not known', () => keys.groupOf('ann', 'group'), '"members","group","ann"'],
  ['a group of which one is no member', () => keys.member('group', 'ann'), '"groupsOf","ann","group"'],
  [
    'a grant that its user does not have',
    () => keys.grantOf({ type: 'user', id: 'ann' }, { type: 'document', id: 'doc' }, null),
    '"grants","document","doc","user","ann"',
  ],
  [
    'an entry of no grant',
    () => keys.grant({ type: 'document', id: 'doc' }, { type: 'user', id: 'ann' }),
    '"grantsOf","user","ann"',
  ],
])('[STORE-16] %s is named', async (_, gone, named) => {
  const raw = Buffer.concat([Buffer.from('k'), encodeKey(part), Buffer.of(1), encodeKey(gone())])
  await expectNamed(raw.toString(), named)
})

it('[STORE-16] a version whose content is gone is named', async () => {
  await expectNamed('b\u0002versions\0', '"versions","doc","main"')
})

async function expectNamed(marker: string, named: string): Promise<void> {
  rmSync(broken, { recursive: true, force: true })
  cpSync(sound, broken, { recursive: true })
  const store = join(broken, 'store')
  const [key] = await storedPair(store, marker)
  await overwrite(store, key, null)
  const { damages } = await verify(broken, () => undefined)
  expect(damages).toEqual([
    {
      kind: 'index',
      what: expect.stringContaining(named),
      problem: expect.stringContaining('is missing beside it'),
      help: expect.stringContaining('REST'),
    },
  ])
}
