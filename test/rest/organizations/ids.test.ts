import { afterAll, beforeAll, expect, it } from 'vitest'
import { syncedEditor } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.stop())

/** Ids that a layer might confuse with something else. Some differ in one detail only. */
const odd = [
  'a/b',
  'a',
  'b',
  '...',
  '.a',
  'a.',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '😀',
  '👩‍👩‍👧',
  'e\u0301',
  'é',
  'É',
  ' ',
  ' a',
  'a ',
  '%2F',
  '%',
  '%00',
  'a%2Fb',
  '?a=b',
  '#',
  '&',
  '+',
  '"',
  "'",
  '\\',
  '<script>',
  '{{x}}',
  '$ref',
  'null',
  '0',
  '-1',
  '1e3',
  'ÿ',
  '\u{10ffff}',
  'x'.repeat(512),
  '😀'.repeat(128),
]

const never = ['', '.', '..', 'a\u0000b', '\u0007', '\n', '\u007f', 'x'.repeat(513), '😀'.repeat(129)]

type Keyed = Readonly<Record<string, { readonly success: boolean }>>

async function done(path: string, data: object): Promise<unknown> {
  return dataOf(await server.post(path, data))
}

const successes = (keyed: unknown): string[] =>
  Object.entries(keyed as Keyed).flatMap(([id, { success }]) => (success ? [id] : []))

it('[API-50] returns ids of organizations, folders, documents, users and groups as they were sent', async () => {
  const sorted = odd.toSorted()
  const organizations = odd.map((organizationId) => ({ organizationId, organizationName: organizationId }))
  expect(successes(await done('/v2/organizations/add', { organizations })).toSorted()).toEqual(sorted)
  const organizationId = '__proto__'
  const folders = odd.map((folderId) => ({ folderId }))
  const documents = odd.map((documentId) => ({ documentId, folderId: documentId }))
  const users = odd.map((userId) => ({ userId }))
  const organizationUserGroups = odd.map((groupId) => ({ groupId }))
  for (const [path, items] of [
    ['/v1/organizations/folders/add', { folders }],
    ['/v2/organizations/documents/add', { documents }],
    ['/v2/users/add', { users }],
    ['/v1/organizations/usergroups/add', { organizationUserGroups }],
  ] as const) {
    expect(successes(await done(path, { organizationId, ...items })).toSorted(), path).toEqual(sorted)
  }
  const read = async (path: string, member: string, more: object = {}) =>
    ((await done(path, { organizationId, ...more })) as Record<string, string>[]).map(
      (record) => record[member],
    )
  expect((await read('/v2/organizations/folders/get', 'folderId')).toSorted()).toEqual(sorted)
  expect((await read('/v2/organizations/documents/get', 'id')).toSorted()).toEqual(sorted)
  expect((await read('/v2/users/get', 'userId')).toSorted()).toEqual(sorted)
  for (const id of odd) {
    const inFolder = await read('/v2/organizations/documents/get', 'id', { folderId: id })
    expect(inFolder).toEqual([id])
    expect(await read('/v2/users/get', 'userId', { userIds: [id] })).toEqual([id])
  }
})

it('[API-50] keeps the contents of two addresses separate if the addresses differ in any id', async () => {
  const places = odd.flatMap((id) => [
    { organizationId: id, documentId: 'd', editorId: 'e' },
    { organizationId: 'ids', documentId: id, editorId: 'e' },
    { organizationId: 'ids', documentId: 'd', editorId: id },
  ])
  for (const place of places) {
    await done('/v2/crdt/add', { ...place, type: 'text', data: JSON.stringify(place) })
  }
  for (const place of places) {
    expect(await done('/v2/crdt/get', place)).toMatchObject([
      { id: place.editorId, data: JSON.stringify(place) },
    ])
  }
})

it('[API-50] accepts every percent-encoded id in the URL of a websocket', async () => {
  const token = await server.token('ada')
  for (const id of odd) {
    const place = { organizationId: id, documentId: id, editorId: id }
    await done('/v2/crdt/add', { ...place, type: 'text', data: `of ${id}` })
    const path = [id, id, id].map(encodeURIComponent).join('/')
    const editor = await syncedEditor(server.wsUrl, path, token)
    expect(editor.doc.getText('content').toString()).toBe(`of ${id}`)
    editor.close()
  }
}, 60_000)

it('[API-51] rejects an invalid id of an organization, folder, document or user', async () => {
  for (const id of never) {
    for (const [path, data] of [
      ['/v2/organizations/add', { organizations: [{ organizationId: id }] }],
      ['/v1/organizations/folders/add', { organizationId: 'ids', folders: [{ folderId: id }] }],
      ['/v2/organizations/documents/add', { organizationId: 'ids', documents: [{ documentId: id }] }],
      ['/v2/users/add', { organizationId: 'ids', users: [{ userId: id }] }],
      ['/v2/crdt/add', { organizationId: 'ids', documentId: id, editorId: 'e', type: 'text', data: '' }],
    ] as const) {
      const answer = await server.post(path, data)
      expect([answer.status, answer.body.error?.status], `${path} ${JSON.stringify(id)}`).toEqual([
        400,
        'INVALID_ARGUMENT',
      ])
    }
  }
})

it('[DATA-2] continues a list in pages even if its ids have the maximum length and escaped characters', async () => {
  const id = '"'.repeat(512)
  const at = { organizationId: id, documentId: id }
  const made = await server.post('/v2/crdt/add', { ...at, editorId: 'main', type: 'text', data: 'x' })
  dataOf(made)
  const activities = ['1', '2', '3'].map((last) => ({
    id: `${'"'.repeat(511)}${last}`,
    featureType: 'custom',
    actionType: 'x',
    actionUser: { userId: id },
    targetEntityId: id,
  }))
  dataOf(await server.post('/v2/activities/add', { ...at, activities }))
  for (const path of ['/v2/users/data/get', '/v2/activities/get']) {
    let found = 0
    for (let pageToken: string | undefined = ''; pageToken !== undefined; ) {
      const more = pageToken === '' ? {} : { pageToken }
      const query = { userId: id, organizationId: id, pageSize: 1, ...more }
      const answer = await server.post(path, query)
      found += (dataOf(answer) as unknown[]).length
      pageToken = (answer.body.result as { pageToken?: string }).pageToken
    }
    expect(found).toBe(activities.length)
  }
})
