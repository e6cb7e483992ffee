import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-restore-records-'))
const adminToken = 'an-admin-token-of-the-test'
const organizationId = 'acme'
const plan = { organizationId, documentId: 'plan' }
const editor = { ...plan, editorId: 'main' }
const ann = { userId: 'ann', name: 'Ann' }
const bob = { userId: 'bob', name: 'Bob' }
let server: TestServer
/** The threads and the versions of the backup. */
let saved: { readonly threads: readonly object[]; readonly versions: readonly object[] }

const call = async (path: string, data: object): Promise<unknown> => dataOf(await server.post(path, data))

const write = (data: string) => call('/v2/crdt/update', { ...editor, type: 'text', data, upsert: true })

interface Thread {
  readonly annotationId: string
  readonly status: string
  readonly createdBy: object
  readonly suggestion: object | null
  readonly comments: readonly {
    readonly commentId: string
    readonly text: string
    readonly from: object
    readonly reactions: readonly object[]
  }[]
}

/** Returns the threads without their times, sorted by their ids. */
async function threads(): Promise<readonly object[]> {
  const found = (await call('/v2/commentannotations/get', { ...plan, order: 'asc' })) as Thread[]
  return JSON.parse(
    JSON.stringify(found, (name, value: unknown) =>
      ['createdAt', 'lastUpdated'].includes(name) ? undefined : value,
    ),
  ) as readonly object[]
}

interface Version {
  readonly versionId: string
  readonly label: string
  readonly createdBy: string
  readonly metadata: object
}

/** Returns the versions, the oldest first. */
const listVersions = async (): Promise<readonly Version[]> =>
  ((await call('/v2/crdt/versions/list', editor)) as Version[]).toReversed()

/** Returns the label, the creator, the metadata and the text of each version, the oldest first. */
async function versions(): Promise<readonly object[]> {
  return Promise.all(
    (await listVersions()).map(async ({ versionId, label, createdBy, metadata }) => {
      const query = { ...editor, versionId, format: 'text' }
      const { data } = (await call('/v2/crdt/versions/get', query)) as { data: string }
      return { label, createdBy, metadata, data }
    }),
  )
}

/** Returns the roles of users by the permissions of the document and its folder. */
const roles = () =>
  call('/v2/auth/permissions/get', {
    organizationId,
    userIds: ['ann', 'bob', 'cid'],
    documentIds: ['plan'],
    folderIds: ['top'],
  })

const grant = (subject: object, type: string, id: string, accessRole: string, expiresAt?: number) => {
  const resource = { type, id, organizationId, accessRole, ...(expiresAt !== undefined && { expiresAt }) }
  return call('/v2/auth/permissions/add', { ...subject, permissions: { resources: [resource] } })
}

const restore = (...args: readonly string[]) => restoreOf('plan', ...args)

async function restoreOf(documentId: string, ...args: readonly string[]) {
  const to = ['--to', server.url, '--data-dir', 'data', '--document', `acme/${documentId}`]
  const { code, out, err } = await runCli(['restore', 'file', ...to, ...args], root)
  return { code, out, err }
}

beforeAll(async () => {
  writeFileSync(join(root, 'token'), adminToken)
  server = await startTestServer({ engine: 'level', dataDir: join(root, 'data'), adminToken })
  await call('/v2/organizations/add', { organizations: [{ organizationId }] })
  await call('/v1/organizations/folders/add', { organizationId, folders: [{ folderId: 'top' }] })
  const groups = [{ groupId: 'team', groupName: 'Team' }]
  await call('/v1/organizations/usergroups/add', { organizationId, organizationUserGroups: groups })
  const document = {
    documentId: 'plan',
    folderId: 'top',
    accessType: 'restricted',
    metadata: { color: 'red' },
  }
  await call('/v2/organizations/documents/add', { organizationId, documents: [document] })
  await grant({ user: { userId: 'ann' } }, 'document', 'plan', 'editor', 4_000_000_000)
  await grant({ user: { userId: 'bob' } }, 'folder', 'top', 'viewer')
  await grant({ organizationUserGroupId: 'team' }, 'document', 'plan', 'viewer')
  const pruned = { organizationId, documentId: 'pruned', editorId: 'main' }
  await call('/v2/crdt/add', { ...pruned, type: 'text', data: 'text' })
  await call('/v2/crdt/prune', pruned)
  await write('first')
  await call('/v2/crdt/versions/create', {
    ...editor,
    label: 'First',
    metadata: { ticket: 'A-17' },
    userId: 'ann',
  })
  await write('second')
  await call('/v2/crdt/versions/create', editor)
  await write('third')
  await call('/v2/crdt/branches/create', { ...editor, name: 'draft', userId: 'ann' })
  const annotations = [
    {
      annotationId: 'resolved',
      status: 'resolved',
      priority: 'high',
      assignedTo: bob,
      location: { id: 'page-1', extra: [1] },
      anchor: { editorId: 'main', contentKey: 'content', position: 'AQdjb250ZW50AA==' },
      comments: [
        { commentId: 'question', from: ann, text: 'Is this right?' },
        { commentId: 'reply', from: bob, text: 'It is.' },
      ],
    },
    { annotationId: 'idea', suggestion: { content: 'fourth' } },
    {
      annotationId: 'decided',
      suggestion: { content: 'fifth' },
      comments: [{ commentId: 'reason', from: bob, text: 'A fifth chapter is necessary.' }],
    },
  ]
  await call('/v2/commentannotations/add', { ...plan, actionUser: ann, annotations })
  const decided = [{ annotationId: 'decided', suggestion: { accept: true } }]
  await call('/v2/commentannotations/update', { ...plan, actionUser: bob, annotations: decided })
  const reaction = { annotationId: 'resolved', commentId: 'reply', actionUser: ann }
  const reactions = [{ reactionId: 'thumb', reaction: '👍', user: ann }]
  await call('/v2/commentannotations/comments/reactions/add', { ...plan, ...reaction, reactions })
  saved = { threads: await threads(), versions: await versions() }
  const backup = ['backup', server.url, 'file', '--token-file', 'token']
  expect(await runCli(backup, root)).toMatchObject({ code: 0 })
}, 60_000)

afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

it('[BKP-78] adds deleted threads and replies to an existing document again, and changes no other comment', async () => {
  await call('/v2/commentannotations/delete', { ...plan, actionUser: ann, annotationIds: ['idea'] })
  const reply = { annotationId: 'resolved', commentIds: ['reply'], actionUser: ann }
  await call('/v2/commentannotations/comments/delete', { ...plan, ...reply })
  const edited = [{ commentId: 'question', text: 'Is this still right?' }]
  const update = { annotationId: 'resolved', actionUser: ann, comments: edited }
  await call('/v2/commentannotations/comments/update', { ...plan, ...update })
  const before = await threads()
  await call('/v2/crdt/branches/delete', { ...editor, name: 'draft' })
  const [, second] = await listVersions()
  await call('/v2/crdt/versions/delete', { ...editor, versionId: second?.versionId })
  const dry = await restore('--dry-run')
  expect([dry.code, dry.out, await threads()]).toEqual([
    0,
    expect.stringMatching(
      /^acme\/plan: changed, with comment threads: 1, comments: 1, without branches: 1, versions: 1$/m,
    ),
    before,
  ])
  const { code, out } = await restore()
  expect([code, out.split('\n').slice(0, 3)]).toEqual([0, dry.out.split('\n').slice(0, 3)])
  expect(out.split('\n').slice(1, 3)).toEqual([
    'records restored: comment threads: 1, comments: 1',
    'records not restored: branches: 1, versions: 1',
  ])
  const text = JSON.stringify(saved.threads).replace('Is this right?', 'Is this still right?')
  const now = await threads()
  const byId = (list: readonly object[]) =>
    list.toSorted((one, two) => JSON.stringify(one).localeCompare(JSON.stringify(two)))
  expect(byId(now)).toEqual(byId(JSON.parse(text) as readonly object[]))
})

it('[BKP-79] [BKP-80] [BKP-81] creates a document again with its comments, versions and permissions, and names the records that it leaves out', async () => {
  const past = await roles()
  await call('/v2/organizations/folders/delete', { organizationId, folderId: 'top' })
  const groups = { organizationId, groupIds: ['team'] }
  await call('/v2/organizations/usergroups/delete', groups)
  const { code, out } = await restore('--json')
  const [line, total] = out
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each) as object)
  const restored = { versions: 2, threads: 3, comments: 3, permissions: 2 }
  const leftOut = {
    branches: 1,
    schemas: 0,
    decisions: 1,
    suggestions: 1,
    versions: 0,
    permissions: 1,
    generations: 0,
    settings: 0,
  }
  expect([code, line, total]).toEqual([
    0,
    expect.objectContaining({ result: 'created', editors: ['main'], restored, leftOut }),
    expect.objectContaining({ ok: true, created: 1, restored, leftOut }),
  ])
  const time = String.raw`\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\)`
  expect(await versions()).toEqual([
    { ...saved.versions[0], label: expect.stringMatching(`^First ${time}$`) },
    { ...saved.versions[1], label: expect.stringMatching(`^Version ${time}$`) },
  ])
  expect(await roles()).toEqual(past)
  const now = await threads()
  const withoutDecision = saved.threads.map((thread) =>
    'annotationId' in thread && thread.annotationId === 'decided' ? { ...thread, suggestion: null } : thread,
  )
  expect(now).toEqual(expect.arrayContaining(withoutDecision))
  expect(now).toHaveLength(3)
  // The versions that the restore has created count as those of the backup.
  expect((await restore('--dry-run')).out).toMatch(/^acme\/plan: same, without branches: 1$/m)
})

it('[PRUNE-18] names the replaced content of a pruned editor that it leaves out', async () => {
  await call('/v2/organizations/documents/delete', { organizationId, documentIds: ['pruned'] })
  const { code, out } = await restoreOf('pruned')
  const line = 'acme/pruned: created (main), with versions: 1, without contents replaced by prunes: 1'
  expect([code, out.split('\n')[0]]).toEqual([0, line])
})
