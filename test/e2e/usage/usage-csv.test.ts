import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ReadUsage, workspaceHeaders } from '../../support/data/usage.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer

beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.stop())

const call = (operation: 'get' | 'export', data: object): Promise<Answer> =>
  server.post(`/v2/workspace/usage/${operation}`, data, workspaceHeaders(server.credentials))

const items = async (data: object) => dataOf(await call('get', data)) as readonly ReadUsage[]
const lines = async (data: object) => dataOf(await call('export', data)) as readonly string[]
const tokenOf = ({ body }: Answer) => (body.result as { readonly pageToken?: string }).pageToken

/** Counts a call for an organization. */
async function useAs(organizationId: string): Promise<void> {
  const editor = { organizationId, documentId: 'notes', editorId: 'main' }
  dataOf(await server.post('/v2/crdt/add', { ...editor, type: 'text', data: 'x' }))
}

const columns =
  'start,apiKey,organizationId,connectionsOpened,connectionsPeak,connectionMinutes,updates,bytesSent,calls,bytesStored'

it('[USE-33] returns the items as lines of CSV, with the numbers of the JSON', async () => {
  await useAs('acme')
  await useAs('zoo, "west"')
  const query = { by: 'organization', granularity: 'month' }
  const line = ({ start, apiKey, connectionMinutes, ...item }: ReadUsage, id: string): string =>
    [
      new Date(start).toISOString(),
      apiKey,
      id,
      item.connectionsOpened,
      item.connectionsPeak,
      connectionMinutes,
      item.updates,
      item.bytesSent,
      item.calls,
      '',
    ].join(',')
  const [acme, zoo, ...more] = (await items(query)) as [ReadUsage, ReadUsage]
  expect(more).toEqual([])
  expect(acme).toMatchObject({ organizationId: 'acme', updates: 1, calls: 1 })
  expect(await lines(query)).toEqual([columns, line(acme, 'acme'), line(zoo, '"zoo, ""west"""')])
})

it('[USE-33] the usage of the workspace has the stored bytes and no ids', async () => {
  await useAs('acme')
  const last = (await lines({})).at(-1)
  expect(last).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z,,,0,0,0,1,\d+,\d+,\d+$/)
})

it('[USE-33] an id that begins like a formula gets an apostrophe', async () => {
  const ids = ['=1+1', '+1', '-1', '@sum(a1)', '＝1', '=a,"b"', 'a=1', "'=1+1", 'a;=1']
  for (const id of ids) await useAs(id)
  const query = { by: 'organization', granularity: 'month' }
  const rows = (await lines(query)).slice(1)
  const shown = rows.map((row) => /^[^,]*,[^,]*,(.*?)(,[\d.]*){7}$/.exec(row)?.[1])
  expect(shown.toSorted()).toEqual(
    [`'=1+1`, `'+1`, `'-1`, `'@sum(a1)`, `'＝1`, `"'=a,""b"""`, 'a=1', `''=1+1`, '"a;=1"'].toSorted(),
  )
  // JSON has the ids as they are.
  const found = await items(query)
  expect(found.map(({ organizationId }) => organizationId).toSorted()).toEqual(ids.toSorted())
})

it('[USE-33] the lines of all pages are one file', async () => {
  for (const id of ['a', 'b', 'c', 'd', 'e']) await useAs(id)
  const query = { by: 'organization', granularity: 'month' }
  const whole = await lines(query)
  const file: string[] = []
  let pages = 0
  let pageToken: string | undefined
  do {
    const answer = await call('export', {
      ...query,
      pageSize: 2,
      ...(pageToken !== undefined && { pageToken }),
    })
    file.push(...(dataOf(answer) as readonly string[]))
    pages += 1
    pageToken = tokenOf(answer)
  } while (pageToken !== undefined)
  expect(pages).toBeGreaterThanOrEqual(3)
  expect(whole.length).toBe(6)
  expect(file).toEqual(whole)
})

it('[USE-33] without usage the file has the column names only', async () => {
  expect(await lines({ to: 1 })).toEqual([columns])
})

it('[USE-33] rejects the page token of usage/get, and a call without the token of the workspace', async () => {
  for (const id of ['a', 'b']) await useAs(id)
  const pageToken = tokenOf(await call('get', { by: 'organization', pageSize: 1 }))
  expect(pageToken).toBeDefined()
  const mixed = await call('export', { by: 'organization', pageSize: 1, pageToken })
  expect([mixed.status, mixed.body.error?.details?.code]).toEqual([400, 'request/page-token'])
  const { workspaceId } = server.credentials
  const wrong = { 'x-service-workspace-id': workspaceId, 'x-service-workspace-auth-token': 'wrong' }
  expect((await server.post('/v2/workspace/usage/export', {}, wrong)).status).toBe(401)
})
