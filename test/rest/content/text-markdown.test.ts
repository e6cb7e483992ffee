import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let documents = 0
const newAddress = () => ({ organizationId: 'acme', documentId: `text-${++documents}`, editorId: 'main' })
type Address = ReturnType<typeof newAddress>

const call = async (operation: string, address: Address, more: object): Promise<unknown> => {
  const { body } = await server.post(`/v2/crdt/${operation}`, { ...address, ...more })
  return body.result?.data ?? body.error
}

const read = async (address: Address, format: string, contentKey?: string) => {
  const [found] = (await call('get', address, { format, contentKey })) as [{ data: unknown; version: string }]
  return found
}

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.stop())

it('[FMT-123] [FMT-124] stores Markdown as in Quill when the schema of Quill is attached', async () => {
  const address = newAddress()
  const contentKey = 'body'
  await call('add', address, { type: 'markdown', data: '1 \\* 2', schema: 'quill', contentKey })
  expect((await read(address, 'delta')).data).toEqual([{ insert: '1 * 2' }])
  expect((await read(address, 'markdown')).data).toBe('1 \\* 2\n')
  await call('update', address, { type: 'markdown', data: '# 1 \\* 2' })
  expect((await read(address, 'delta')).data).toEqual([
    { insert: '1 * 2' },
    { insert: '\n', attributes: { header: 1 } },
  ])
  const plain = newAddress()
  await call('add', plain, { type: 'text', data: '1 \\* 2', contentKey })
  expect((await read(plain, 'markdown')).data).toBe('1 \\* 2')
})

it('[FMT-127] merges Markdown for an older version into a text of Quill', async () => {
  const address = newAddress()
  await call('add', address, { type: 'markdown', data: '# One\n\ntwo\n', contentKey: 'quill' })
  const { version, data } = await read(address, 'markdown')
  await call('edit', address, { edits: [{ mark: { find: 'One', name: 'color', value: 'red' } }] })
  const merged = { type: 'markdown', data: `${String(data)}\n- three\n`, baseVersion: version }
  expect(await call('update', address, merged)).toMatchObject({ changed: true, contentKey: 'quill' })
  expect((await read(address, 'delta')).data).toEqual([
    { insert: 'One', attributes: { color: 'red' } },
    { insert: '\n', attributes: { header: 1 } },
    { insert: 'two\nthree' },
    { insert: '\n', attributes: { list: 'bullet' } },
  ])
})

it('[FMT-125] writes a large text of Quill on a thread, and writes nothing back', async () => {
  const address = newAddress()
  const markdown = Array.from({ length: 2_000 }, (_, n) => `- item **${n}**\n`).join('')
  await call('add', address, { type: 'markdown', data: '', contentKey: 'quill' })
  expect(await call('update', address, { type: 'markdown', data: markdown })).toMatchObject({ changed: true })
  const { data } = await read(address, 'markdown')
  expect(data).toBe(markdown)
  expect(await call('update', address, { type: 'markdown', data })).toMatchObject({
    changed: false,
    bytes: 0,
  })
})
