import { afterAll, beforeAll, expect, it } from 'vitest'
import { newOrganization } from '../../support/data/folder-tree.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

/** Calls that list one kind of record. */
function listing(path: string, fixed: object, idOf: (item: never) => string) {
  const call = (data: object) => server.post(path, { ...fixed, ...data })
  return {
    found: async (data: object) => (dataOf(await call(data)) as never[]).map(idOf),
    tokenOf: async (data: object) => ((await call(data)).body.result as { pageToken?: string }).pageToken,
    problem: async (data: object) => {
      const { status, body } = await call(data)
      return [status, body.error?.status, body.error?.details?.issues?.[0]?.path]
    },
  }
}

const badSearch = [400, 'INVALID_ARGUMENT', '/data/search']
const badToken = [400, 'INVALID_ARGUMENT', undefined]

it('[DOC-15] in a search, ignores case in every alphabet', async () => {
  const { organizationId, addDocuments } = await newOrganization(server)
  await addDocuments({ documentId: 'a', documentName: 'ΟΔΟΣΑ' }, { documentId: 'b', documentName: 'Straße' })
  const { found } = listing('/v2/organizations/documents/get', { organizationId }, ({ id }) => id)
  for (const search of ['ΟΔΟΣ', 'οδος', 'οδοσ']) expect(await found({ search })).toEqual(['a'])
  for (const search of ['straße', 'STRASSE', 'STRAẞE']) expect(await found({ search })).toEqual(['b'])
})

it('[DOC-15] finds documents of an organization or a folder by a part of their id or name, in pages', async () => {
  const { organizationId, addFolders, addDocuments, updateDocuments } = await newOrganization(server)
  await addFolders({ folderId: 'f' })
  await addDocuments(
    { documentId: 'a-Report', folderId: 'f' },
    { documentId: 'b', documentName: 'Annual REPORT' },
    { documentId: 'c', documentName: 'R\u00e9sum\u00e9' },
    { documentId: 'd', documentName: 'other', folderId: 'f' },
  )
  const path = '/v2/organizations/documents/get'
  const { found, tokenOf, problem } = listing(path, { organizationId }, ({ id }) => id)
  expect(await found({ search: 'report' })).toEqual(['a-Report', 'b'])
  expect(await found({ search: 'REPORT', folderId: 'f' })).toEqual(['a-Report'])
  expect(await found({ search: 're\u0301sume\u0301' })).toEqual(['c'])
  expect(await found({ search: 'l rep' })).toEqual(['b'])
  expect(await found({ search: 'report ' })).toEqual([])
  expect(await found({ search: '\u{1f600}'.repeat(200) })).toEqual([])
  const next = { pageSize: 2, pageToken: await tokenOf({ search: 'r', pageSize: 2 }) }
  expect(await found({ search: 'r', ...next })).toEqual(['c', 'd'])
  for (const other of [{ search: 'R' }, {}, { search: 'r', folderId: 'f' }])
    expect(await problem({ ...next, ...other })).toEqual(badToken)
  await updateDocuments({ documentId: 'b', documentName: 'Summary' })
  expect(await found({ search: 'report' })).toEqual(['a-Report'])
  for (const bad of [{ search: '' }, { search: 'x'.repeat(201) }, { search: 'a', documentIds: ['a'] }])
    expect(await problem(bad)).toEqual(badSearch)
  expect((await problem({ search: 'a', folderId: 'none' }))[0]).toBe(404)
})

it('[ORG-17] finds organizations by a part of their id or name, in pages', async () => {
  const organizations = [
    { organizationId: 'acme 17', organizationName: 'Acme Ltd' },
    { organizationId: 'b-ACME' },
    { organizationId: 'c', organizationName: 'Not the ACME' },
    { organizationId: 'd', organizationName: 'Other' },
  ]
  await server.post('/v2/organizations/add', { organizations })
  const { found, tokenOf, problem } = listing('/v2/organizations/get', {}, ({ id }) => id)
  expect(await found({ search: 'aCmE' })).toEqual(['acme 17', 'b-ACME', 'c'])
  const next = { pageSize: 2, pageToken: await tokenOf({ search: 'acme', pageSize: 2 }) }
  expect(await found({ search: 'acme', ...next })).toEqual(['c'])
  expect(await problem(next)).toEqual(badToken)
  expect(await problem({ search: 'acme', organizationIds: ['c'] })).toEqual(badSearch)
})

it('[USER-16] finds users of an organization or a document by a part of their id, name or email', async () => {
  const { organizationId, addDocuments } = await newOrganization(server)
  await addDocuments({ documentId: 'd' })
  const users = [
    { userId: 'ann', name: 'Ann Lee' },
    { userId: 'bob', email: 'Bob@Lee.example' },
    { userId: 'Leela' },
    { userId: 'other' },
  ]
  await server.post('/v2/users/add', { organizationId, users })
  await server.post('/v2/users/add', {
    organizationId,
    documentId: 'd',
    users: [{ userId: 'ann' }, { userId: 'other' }],
  })
  const { found, tokenOf, problem } = listing('/v2/users/get', { organizationId }, ({ userId }) => userId)
  expect(await found({ search: 'LEE' })).toEqual(['Leela', 'ann', 'bob'])
  expect(await found({ search: 'lee', documentId: 'd' })).toEqual(['ann'])
  expect(await found({ search: 'nobody' })).toEqual([])
  const next = { pageSize: 2, pageToken: await tokenOf({ search: 'lee', pageSize: 2 }) }
  expect(await found({ search: 'lee', ...next })).toEqual(['bob'])
  expect(await problem(next)).toEqual(badToken)
  expect(await problem({ search: 'lee', userIds: ['ann'] })).toEqual(badSearch)
})
