import { afterAll, beforeAll, expect, it } from 'vitest'
import { oddIds, organizationCalls, outcomes, statusOf } from '../../support/data/folder-tree.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

interface Organization {
  readonly id: string
  readonly organizationName: string
  readonly metadata: object
  readonly createdAt: number
  readonly lastUpdated: number
}

const call = (operation: string, data: object) => server.post(`/v2/organizations/${operation}`, data)
const add = async (...organizations: object[]) => outcomes(await call('add', { organizations }))
const update = async (...organizations: object[]) => outcomes(await call('update', { organizations }))
const remove = async (...organizationIds: string[]) => outcomes(await call('delete', { organizationIds }))
const get = async (data: object) => dataOf(await call('get', data)) as Organization[]
const read = (...organizationIds: string[]) => get({ organizationIds })

it('[ORG-1] adds an organization with name and metadata, which are empty by default, and returns it', async () => {
  const before = Date.now()
  const answer = await call('add', {
    organizations: [
      { organizationId: 'full', organizationName: 'Full', metadata: { plan: { seats: 3 } } },
      { organizationId: 'bare' },
    ],
  })
  expect(dataOf(answer)).toEqual({
    full: { success: true, id: 'full', message: expect.any(String) },
    bare: { success: true, id: 'bare', message: expect.any(String) },
  })
  const [full, bare] = await read('full', 'bare')
  expect(full).toEqual({
    id: 'full',
    organizationName: 'Full',
    metadata: { plan: { seats: 3 } },
    createdAt: expect.any(Number),
    lastUpdated: full?.createdAt,
  })
  expect(full?.createdAt).toBeGreaterThanOrEqual(before)
  expect(bare).toMatchObject({ organizationName: '', metadata: {} })
})

it('[ORG-2] does not add or change an existing organization, but adds the other organizations of the call', async () => {
  await add({ organizationId: 'twice', organizationName: 'First' })
  expect(
    await add({ organizationId: 'twice', organizationName: 'Second' }, { organizationId: 'other' }),
  ).toEqual({ twice: 'the organization exists already', other: true })
  expect(await read('twice')).toMatchObject([{ organizationName: 'First' }])
  const many = await Promise.all(Array.from({ length: 10 }, () => add({ organizationId: 'race' })))
  expect(many.filter(({ race }) => race === true)).toHaveLength(1)
})

it('[ORG-3] changes the given members of an organization and keeps the others; does not update an unknown organization', async () => {
  await add({ organizationId: 'changing', organizationName: 'Before', metadata: { a: 1 } })
  const [before] = await read('changing')
  await new Promise((resolve) => setTimeout(resolve, 2))
  expect(
    await update({ organizationId: 'changing', organizationName: 'After' }, { organizationId: 'none' }),
  ).toEqual({ changing: true, none: 'the organization does not exist' })
  const [after] = await read('changing')
  expect(after).toEqual({ ...before, organizationName: 'After', lastUpdated: expect.any(Number) })
  expect(after?.lastUpdated).toBeGreaterThan(before?.lastUpdated ?? 0)
  await update({ organizationId: 'changing', metadata: { b: 2 } })
  expect(await read('changing')).toMatchObject([
    { organizationName: 'After', metadata: { b: 2 }, createdAt: before?.createdAt },
  ])
  expect(await read('none')).toEqual([])
})

it('[ORG-4] returns up to 30 organizations by id and omits missing ones, or lists all organizations in pages', async () => {
  const own = await startTestServer()
  const ids = Array.from({ length: 7 }, (_, index) => `o${index}`)
  await own.post('/v2/organizations/add', {
    organizations: ids.map((organizationId) => ({ organizationId })),
  })
  const page = async (data: object) => {
    const { body } = await own.post('/v2/organizations/get', data)
    const { data: found, pageToken } = body.result as { data: Organization[]; pageToken?: string }
    return { ids: found.map(({ id }) => id), pageToken }
  }
  expect((await page({ organizationIds: ['o3', 'none', 'o1', 'o3'] })).ids).toEqual(['o3', 'o1'])
  expect(await page({})).toEqual({ ids, pageToken: undefined })
  const first = await page({ pageSize: 3 })
  const second = await page({ pageSize: 3, pageToken: first.pageToken })
  const third = await page({ pageSize: 3, pageToken: second.pageToken })
  expect([first.ids, second.ids, third.ids]).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)])
  expect(third.pageToken).toBeUndefined()
  await own.stop()
})

it('[ORG-5] returns a result for each organization that a call deletes; for a missing organization, `success` is false', async () => {
  await add({ organizationId: 'goes' }, { organizationId: 'stays' })
  const answer = await call('delete', { organizationIds: ['goes', 'missing'] })
  expect(answer.status).toBe(200)
  expect(dataOf(answer)).toEqual({
    goes: { success: true, id: 'goes', message: expect.any(String) },
    missing: {
      success: false,
      id: 'missing',
      message: expect.stringContaining('does not exist'),
      details: { code: 'organization/not-found' },
    },
  })
  expect((await read('goes', 'stays')).map(({ id }) => id)).toEqual(['stays'])
  expect(await remove('goes')).toEqual({ goes: 'the organization does not exist' })
  expect((await get({})).map(({ id }) => id)).not.toContain('goes')
})

it('[ORG-6] when a deleted organization is added again, does not restore its former content', async () => {
  const { addFolders, addDocuments, folders, documents } = organizationCalls(server, 'again')
  await add({ organizationId: 'again', organizationName: 'Old', metadata: { old: true } })
  await addFolders({ folderId: 'folder' })
  await addDocuments({ documentId: 'in', folderId: 'folder' }, { documentId: 'out' })
  const content = { organizationId: 'again', documentId: 'out', editorId: 'main' }
  await server.post('/v2/crdt/add', { ...content, type: 'text', data: 'old' })
  expect(await remove('again')).toEqual({ again: true })
  expect(statusOf(await server.post('/v2/crdt/get', content))).toBe('NOT_FOUND')
  expect(await add({ organizationId: 'again' })).toEqual({ again: true })
  expect(await read('again')).toMatchObject([{ organizationName: '', metadata: {} }])
  expect(await folders()).toEqual([])
  expect(await documents()).toEqual([])
  expect(statusOf(await server.post('/v2/crdt/get', content))).toBe('NOT_FOUND')
  expect(statusOf(await server.post('/v2/crdt/add', { ...content, type: 'text', data: 'new' }))).toBe(
    'success',
  )
})

it('[API-50] treats ids as opaque: returns any id as it was sent, and finds nothing for a different id', async () => {
  const organizations = oddIds.map((organizationId) => ({ organizationId, organizationName: organizationId }))
  const answer = await call('add', { organizations })
  expect(Object.keys(dataOf(answer) as object).sort()).toEqual([...oddIds].sort())
  expect((await read(...oddIds)).map(({ id, organizationName }) => [id, organizationName])).toEqual(
    oddIds.map((id) => [id, id]),
  )
  const [first = '', ...others] = oddIds
  expect(Object.values(await remove(first))).toEqual([true])
  expect((await read(...oddIds)).map(({ id }) => id)).toEqual(others)
})

it('[ACC-10] does not show organizations of another API key', async () => {
  await add({ organizationId: 'mine' })
  const other = await startTestServer()
  const answer = await other.post('/v2/organizations/delete', { organizationIds: ['mine'] })
  expect(outcomes(answer)).toEqual({ mine: 'the organization does not exist' })
  expect(dataOf(await other.post('/v2/organizations/get', {}))).toEqual([])
  await other.stop()
})

it.each([
  ['add', { organizations: Array.from({ length: 501 }, (_, at) => ({ organizationId: `${at}` })) }, '500'],
  ['delete', { organizationIds: Array.from({ length: 501 }, (_, at) => `${at}`) }, '500'],
  ['get', { organizationIds: Array.from({ length: 31 }, (_, at) => `${at}`) }, '30'],
  ['get', { pageSize: 0 }, '1'],
  ['get', { pageToken: 'made up' }, 'pageToken'],
  ['add', {}, '/data/organizations'],
  ['update', {}, '/data/organizations'],
  ['delete', {}, '/data/organizationIds'],
  ['add', { organizations: [{}] }, '/data/organizations/0/organizationId'],
  ['add', { organizations: [{ organizationId: '..' }] }, '/data/organizations/0/organizationId'],
  ['add', { organizations: [{ organizationId: 'a\0' }] }, '/data/organizations/0/organizationId'],
  ['add', { organizations: [{ organizationId: 'a', organizationName: 1 }] }, 'organizationName'],
  ['add', { organizations: [{ organizationId: 'a', organizationName: 'x'.repeat(1_001) }] }, '1000'],
  ['add', { organizations: [{ organizationId: 'a', metadata: [] }] }, 'metadata'],
  ['add', { organizations: [{ organizationId: 'a', metadata: { a: 'x'.repeat(16_400) } }] }, '16384'],
])(
  '[API-61] when a batch, a page or a value exceeds its limit, rejects the call with INVALID_ARGUMENT: %s %#',
  async (operation, data, says) => {
    const answer = await call(operation, data)
    expect(statusOf(answer)).toBe('INVALID_ARGUMENT')
    expect(answer.body.error?.message).toContain(says)
  },
)
