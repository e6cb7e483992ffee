import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
const address = { organizationId: 'acme', editorId: 'main', contentKey: 'default' }

const read = async (documentId: string, format?: string): Promise<{ data: unknown; version: string }> => {
  const { body } = await server.post('/v2/crdt/get', { ...address, documentId, format })
  const [found] = (body.result?.data ?? []) as { data: unknown; version: string }[]
  if (found === undefined) throw new Error(`nothing there: ${body.error?.message}`)
  return found
}

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.stop())

it('[FMT-1] [FMT-2] adds, reads and updates Markdown', async () => {
  const documentId = 'notes'
  const data = '# Title\n\n- [ ] open\n- [x] *done*\n'
  expect((await server.post('/v2/crdt/add', { ...address, documentId, type: 'markdown', data })).status).toBe(
    200,
  )
  const first = await read(documentId, 'markdown')
  expect(first.data).toBe(data)
  await server.post('/v2/crdt/update', { ...address, documentId, type: 'markdown', data })
  expect((await read(documentId, 'markdown')).version).toBe(first.version)
  const changed = data.replace('open', 'still open')
  await server.post('/v2/crdt/update', { ...address, documentId, type: 'markdown', data: changed })
  expect((await read(documentId)).data).toBe(
    '<heading level="1">Title</heading><taskList><taskItem checked="false"><paragraph>still open</paragraph></taskItem>' +
      '<taskItem checked="true"><paragraph><italic>done</italic></paragraph></taskItem></taskList>',
  )
})

it('[FMT-4] changes one block of a large document, which is compared on a thread', async () => {
  const documentId = 'large'
  const blocks = Array.from({ length: 4_000 }, (_, index) => `Paragraph **${index}** of a large document.`)
  const write = (operation: string): ReturnType<TestServer['post']> =>
    server.post(`/v2/crdt/${operation}`, {
      ...address,
      documentId,
      type: 'markdown',
      data: `${blocks.join('\n\n')}\n`,
    })
  expect((await write('add')).status).toBe(200)
  blocks[2_000] = 'Changed.'
  const { body } = await write('update')
  expect(JSON.stringify(body)).toMatch(/"bytes":\d{2,3}\b|"size":\d{2,3}\b/)
  expect((await read(documentId, 'markdown')).data).toBe(`${blocks.join('\n\n')}\n`)
})
