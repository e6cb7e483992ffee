import { afterAll, beforeAll, expect, it } from 'vitest'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let documents = 0
const newAddress = () => ({ organizationId: 'acme', documentId: `formats-${++documents}`, editorId: 'main' })
type Address = ReturnType<typeof newAddress>

const call = (operation: string, address: Address, more: object) =>
  server.post(`/v2/crdt/${operation}`, { ...address, ...more })

const read = async (address: Address, format: string): Promise<unknown> => {
  const { body } = await call('get', address, { format })
  return (body.result?.data as { data: unknown }[] | undefined)?.[0]?.data
}

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.stop())

const paragraph = (text: string) => ({ type: 'paragraph', content: [{ type: 'text', text }] })
const heading = { type: 'heading', attrs: { level: 2 }, content: [{ type: 'text', text: 'Risks' }] }
const lines = Array.from({ length: 4_000 }, (_, n) => `line number ${n}`)

const samples: readonly (readonly [type: string, from: unknown, to: unknown])[] = [
  ['html', '<p>one</p>', '<h2>Risks</h2>\n<p>one</p>'],
  ['html', '<p>one</p>', lines.map((line) => `<p>${line}</p>`).join('\n')],
  ['prosemirror', [paragraph('one')], { type: 'doc', content: [heading, paragraph('one')] }],
  ['prosemirror', [], { type: 'doc', content: lines.map(paragraph) }],
]

it.each(samples.map(([type, from, to]) => ({ type, from, to, size: JSON.stringify(to).length })))(
  '[FMT-40] [FMT-60] adds, replaces and reads $type of $size characters',
  async ({ type, from, to }) => {
    const address = newAddress()
    expect((await call('add', address, { type, data: from, contentKey: 'default' })).status).toBe(200)
    const { status, body } = await call('update', address, { type, data: to })
    expect(status).toBe(200)
    expect(body.result?.data).toMatchObject({ changed: true, contentKey: 'default' })
    expect(await read(address, type)).toEqual(to)
    const again = await call('update', address, { type, data: to })
    expect(again.body.result?.data).toMatchObject({ changed: false, bytes: 0 })
  },
)

it('[FMT-43] [FMT-63] reads the content of one document in all formats, and writes nothing back', async () => {
  const address = newAddress()
  const xml =
    '<heading level="2">Risks</heading><paragraph>a <textStyle color="red">b</textStyle><mention id="u1"/></paragraph><chart kind="bar"/>'
  await call('add', address, { type: 'xml', data: xml, contentKey: 'default' })
  for (const type of ['html', 'prosemirror', 'markdown', 'xml']) {
    const { body } = await call('update', address, { type, data: await read(address, type) })
    expect(body.result?.data, type).toMatchObject({ changed: false, bytes: 0 })
  }
  expect(await read(address, 'xml')).toBe(xml)
})

it('[FMT-180] reads a version in every format, and uses the root of the attached schema', async () => {
  const address = newAddress()
  const xml = '<heading level="2">Risks</heading><paragraph>None.</paragraph>'
  await call('add', address, { type: 'xml', data: xml, schema: 'tiptap' })
  await call('update', address, { type: 'map', data: { color: 'red' }, contentKey: 'settings' })
  const created = dataOf(await call('versions/create', address, {}))
  const { versionId } = created as { readonly versionId: string }
  const current = await Promise.all(
    ['xml', 'markdown', 'html', 'prosemirror'].map(async (format) => ({
      format,
      data: await read(address, format),
    })),
  )
  await call('update', address, { type: 'markdown', data: 'Later.' })
  for (const { format, data } of current) {
    const version = dataOf(await call('versions/get', address, { versionId, format }))
    expect(version).toMatchObject({ type: format, contentKey: 'default', data })
  }
})

it('[FMT-42] names the position of a problem', async () => {
  const { status, body } = await call('add', newAddress(), { type: 'prosemirror', data: [{ type: 1 }] })
  expect(status).toBe(400)
  expect(body.error).toMatchObject({ details: { code: 'crdt/invalid-content' } })
  expect(body.error?.message).toContain('data at /0/type must be the name of a node type, not a number')
})
