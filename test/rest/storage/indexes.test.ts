import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verify } from '../../../src/capabilities/backups/storage/verify.ts'
import { keys, organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { encodeKey } from '../../../src/core/store/key-encoding.ts'
import { type LevelEngine, openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { decodeRecord, encodeRecord } from '../../../src/core/store/stored-record.ts'
import { overwrite, storedPair } from '../../contract/level/store-tools.ts'
import { ann, say } from '../../support/data/comments.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

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
  const server = await startTestServer({ engine: 'level', dataDir: sound })
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
  await post(server, '/v2/commentannotations/add', {
    documentId: 'doc',
    actionUser: ann,
    annotations: [{ annotationId: 'annotation', location: { id: 'page' }, comments: [say('comment')] }],
  })
  await server.stop()
}, 60_000)

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

it('[STORE-16] verify finds no damage in records that REST has written', async () => {
  expect((await verify(sound, () => undefined)).damages).toEqual([])
})

it.each([
  ['a document without its place', () => keys.documentIn('root', 'doc'), '"documents","doc"'],
  ['a place without its document', () => keys.document('doc'), '"documentsIn","root","doc"'],
  ['a folder without its place', () => keys.folderIn('root', 'folder'), '"folders","folder"'],
  ['a place without its folder', () => keys.folder('folder'), '"foldersIn","root","folder"'],
  ['a member without its group', () => keys.groupOf('ann', 'group'), '"members","group","ann"'],
  ['a group without its member', () => keys.member('group', 'ann'), '"groupsOf","ann","group"'],
  [
    'a grant that its user does not have',
    () => keys.grantOf({ type: 'user', id: 'ann' }, { type: 'document', id: 'doc' }, null),
    '"grants","document","doc","user","ann"',
  ],
  [
    'an entry without its grant',
    () => keys.grant({ type: 'document', id: 'doc' }, { type: 'user', id: 'ann' }),
    '"grantsOf","user","ann"',
  ],
])('[STORE-16] verify reports %s', async (_, gone, named) => {
  const raw = Buffer.concat([Buffer.from('k'), encodeKey(part), Buffer.of(1), encodeKey(gone())])
  await expectNamed(raw.toString(), named)
})

it.each([
  ['its thread', 'annotationThreads', '["annotations","annotation"]'],
  ['its place in the document', 'annotationsIn document', '["annotations","annotation"]'],
  ['its place in the location', 'annotationsIn location', '["annotations","annotation"]'],
  ['the entry of its user', 'annotationTies ann annotation ', '["annotations","annotation"]'],
])('[STORE-16] verify reports a comment thread without %s', async (_, gone, named) => {
  await expectNamed(encodeKey(gone.split(' ')).toString(), named.slice(1, -1))
})

it.each([
  ['its own entry', 'annotationCommentPlaces', '"annotationComments","annotation"'],
  ['the entry of its user', 'annotationTies ann annotation', '"annotationComments","annotation"'],
])('[STORE-16] verify reports a comment without %s', async (_, gone, named) => {
  // The key continues with the order of the comment.
  await expectNamed(`${encodeKey(gone.split(' ')).toString()}${gone.endsWith('n') ? '\u00020' : ''}`, named)
})

it.each([
  ['thread', 'annotations annotation', 5],
  ['comment', 'annotationComments annotation', 2],
])('[STORE-16] verify reports each index entry that remains of a missing %s', async (_, gone, count) => {
  const damages = await without(encodeKey(gone.split(' ')).toString())
  expect(damages.map(({ kind }) => kind)).toEqual(Array.from({ length: count }, () => 'index'))
})

it('[STORE-23] verify reports an annotation with missing members as a damaged record', async () => {
  const value = encodeRecord({ annotationId: 'annotation' })
  await changed(async ({ kv }) => {
    await kv.commit(part, { puts: [{ key: ['annotations', 'annotation'], value }] })
  })
  expect((await verify(broken, () => undefined)).damages).toEqual([
    expect.objectContaining({ kind: 'record', problem: expect.stringContaining('documentId must be') }),
  ])
})

it('[STORE-16] verify reports a job that has no record and is only in the index of times', async () => {
  await changed(async (engine) => {
    const at = Date.now() + 1e9
    await engine.kv.commit(['some'], {
      jobs: [{ queue: 'q\u0001', id: 'the job', at, payload: Buffer.of(1) }],
    })
  })
  const [key] = await storedPair(join(broken, 'store'), 'q\u0002q')
  await overwrite(join(broken, 'store'), key, null)
  expect((await verify(broken, () => undefined)).damages).toEqual([
    expect.objectContaining({ kind: 'job', what: expect.stringContaining('the job') }),
  ])
})

it('[STORE-16] verify accepts an organization whose removal was interrupted', async () => {
  await changed(async ({ kv }) => {
    const record = {
      ...(decodeRecord((await kv.get(part, [keys.organization]))[0] as Uint8Array) as object),
      deleting: true,
    }
    const dels = [keys.document('doc'), keys.member('group', 'ann'), ['annotations', 'annotation']]
    await kv.commit(part, { puts: [{ key: keys.organization, value: encodeRecord(record) }], dels })
  })
  expect((await verify(broken, () => undefined)).damages).toEqual([])
})

it('[STORE-16] verify reports a version whose content is missing', async () => {
  await expectNamed('b\u0002versions\0', '"versions","doc","main"')
})

/** Copies the sound store to `broken` with one change. */
async function changed(change: (engine: LevelEngine) => Promise<void>): Promise<void> {
  rmSync(broken, { recursive: true, force: true, maxRetries: 20 })
  cpSync(sound, broken, { recursive: true })
  const engine = await openLevelEngine({ directory: broken })
  await change(engine)
  await engine.close()
}

/** Returns the damages that verify reports without one record. */
async function without(marker: string) {
  rmSync(broken, { recursive: true, force: true, maxRetries: 20 })
  cpSync(sound, broken, { recursive: true })
  const store = join(broken, 'store')
  const [key] = await storedPair(store, marker)
  await overwrite(store, key, null)
  return (await verify(broken, () => undefined)).damages
}

async function expectNamed(marker: string, named: string): Promise<void> {
  expect(await without(marker)).toEqual([
    {
      kind: 'index',
      what: expect.stringContaining(named),
      problem: expect.stringMatching(/^its index entry .* is missing$/),
      help: expect.stringContaining('REST'),
    },
  ])
}
