import { afterAll, beforeAll, expect, it } from 'vitest'
import type * as Y from 'yjs'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let documents = 0
const newAddress = () => ({ organizationId: 'acme', documentId: `names-${++documents}`, editorId: 'main' })
type Address = ReturnType<typeof newAddress>

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

const call = async (operation: string, address: Address, more: object = {}): Promise<unknown> =>
  dataOf(await server.post(`/v2/crdt/${operation}`, { ...address, ...more }))

const read = async (address: Address, more: object = {}): Promise<unknown> =>
  ((await call('get', address, more)) as readonly { data: unknown }[])[0]?.data

const names = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  'a\nb\u0000',
  '😀',
  ' ',
  '/~',
  'valueOf',
]

/** An object with these names as own members. */
const named = <T>(make: (name: string) => T): Record<string, T> =>
  Object.fromEntries(names.map((name) => [name, make(name)]))

/** JSON with sorted members and the key `__proto__`, which `toEqual` ignores. */
const exact = (json: unknown): string =>
  JSON.stringify(json, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { sorted: Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) }
      : value,
  )

const flat = named((name) => `of ${name}`)
const deep = named(() => [named(() => flat)])
const plain = { text: 'x', list: [1, { a: null }] }

const contents: readonly (readonly [type: string, data: unknown])[] = [
  ['map', { ...flat, inside: deep, ...plain }],
  ['map', named((name) => ({ [name]: { [name]: { [name]: 1 } } }))],
  ['map', named((name) => ({ [name]: name === '' ? null : [] }))],
  ['array', [flat, [deep], ...Object.values(plain)]],
  ['delta', [{ insert: 'x', attributes: flat }, { insert: deep, attributes: deep }, { insert: '\n' }]],
  [
    'xmltext',
    {
      attributes: deep,
      delta: [
        {
          text: {
            attributes: flat,
            delta: [{ insert: 'x', attributes: deep }, { insert: flat }, { map: deep }],
          },
        },
        { element: { name: '__proto__', attributes: flat, children: [{ text: {} }] } },
      ],
    },
  ],
]

it.each(contents)(
  '[R14] accepts the names of object members such as __proto__ as ordinary names in a %s',
  async (type, data) => {
    const [address, contentKey] = [newAddress(), '__proto__']
    const format = type === 'map' || type === 'array' ? 'json' : type
    await call('add', address, { type, data, contentKey })
    expect(exact(await read(address, { format, contentKey }))).toBe(exact(data))
    const same = await call('update', address, { type, data, contentKey })
    expect(same).toMatchObject({ changed: false, bytes: 0 })
    const { versionId } = (await call('versions/create', address)) as { versionId: string }
    const other = type === 'map' ? { a: 1 } : type === 'array' ? [1] : type === 'delta' ? [] : {}
    await call('update', address, { type, data: other, contentKey })
    const version = await call('versions/get', address, { versionId, format, contentKey })
    expect(exact((version as { data: unknown }).data)).toBe(exact(data))
    await call('versions/restore', address, { versionId })
    expect(exact(await read(address, { format, contentKey }))).toBe(exact(data))
    const copy = newAddress()
    await call('apply', copy, { update: await read(address, { format: 'update' }), create: true })
    expect(exact(await read(copy, { format, contentKey }))).toBe(exact(data))
    expect(({} as { a?: unknown }).a).toBeUndefined()
  },
)

it('[R14] sends to clients, and reads from clients, content whose keys are names of object members such as __proto__', async () => {
  const address = newAddress()
  const contentKey = 'board'
  await call('add', address, { contentKey, type: 'map', data: { ...flat, in: { ['__proto__']: { a: 1 } } } })
  const token = await server.token('ada')
  const editor = await syncedEditor(server.wsUrl, Object.values(address).join('/'), token)
  const map = editor.doc.getMap(contentKey)
  for (const name of names) expect(map.get(name)).toBe(`of ${name}`)
  expect((map.get('in') as Y.Map<unknown>).get('__proto__')).toEqual({ a: 1 })
  for (const name of names) map.set(name, [name])
  await eventually(async () => exact(await read(address)).includes('["/~"]'))
  expect(exact(await read(address))).toBe(
    exact({ ...named((name) => [name]), in: { ['__proto__']: { a: 1 } } }),
  )
  const { ['__proto__']: _gone, ...rest } = named((name) => [name])
  await call('update', address, { type: 'map', data: rest })
  await eventually(() => !map.has('__proto__') && !map.has('in'))
  expect([...map.keys()].sort()).toEqual(names.filter((name) => name !== '__proto__').sort())
  editor.close()
})

it('[R14] accepts names of object members such as __proto__ as names of XML elements, attributes and marks', async () => {
  const address = { ...newAddress(), contentKey: 'prosemirror' }
  const xml =
    '<__proto__ __proto__="1" constructor="2"><toString>x</toString></__proto__><paragraph>a</paragraph>'
  const shown = xml.replaceAll('__proto__', '_x005F__proto__')
  await call('add', address, { type: 'xml', data: xml })
  expect(await read(address, { format: 'xml' })).toBe(shown)
  for (const data of [xml, shown])
    expect(await call('update', address, { type: 'xml', data })).toMatchObject({ changed: false, bytes: 0 })
  const token = await server.token('ada')
  const { organizationId, documentId, editorId } = address
  const editor = await syncedEditor(server.wsUrl, `${organizationId}/${documentId}/${editorId}`, token)
  const paragraph = editor.doc.getXmlFragment('prosemirror').get(1) as Y.XmlElement
  ;(paragraph.get(0) as Y.XmlText).format(0, 1, Object.fromEntries([['__proto__', { a: '1' }]]))
  const marked = '<paragraph><_x005F__proto__ a="1">a</_x005F__proto__></paragraph>'
  await eventually(async () => String(await read(address, { format: 'xml' })).includes(marked))
  const data = (await read(address, { format: 'xml' })) as string
  expect(await call('update', address, { type: 'xml', data })).toMatchObject({ changed: false, bytes: 0 })
  await call('update', address, { type: 'xml', data: data.replace('>a<', '>ab<') })
  expect(await read(address, { format: 'xml' })).toBe(data.replace('>a<', '>ab<'))
  editor.close()
})

it('[R10] replaces unpaired surrogates in keys by U+FFFD, as Yjs does, and rejects two keys that become the same', async () => {
  const address = newAddress()
  await call('add', address, { type: 'map', data: { 'a\ud800': 1, b: { '\udc00': 2 } } })
  expect(await read(address)).toEqual({ 'a\ufffd': 1, b: { '\ufffd': 2 } })
  const request = { ...address, type: 'map', data: { b: { '\ud800': 1, '\udc00': 2 } } }
  const { status, body } = await server.post('/v2/crdt/update', request)
  expect([status, body.error?.message]).toEqual([
    400,
    'data at /b/\ufffd: two keys are the same when unpaired surrogates become U+FFFD',
  ])
})
