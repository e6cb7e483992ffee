import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { eventually, RawClient, syncedEditor } from '../../support/clients/clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let token: string
let documents = 0
const newAddress = () => ({ organizationId: 'acme', documentId: `types-${++documents}`, editorId: 'main' })
type Address = ReturnType<typeof newAddress>

const call = (operation: string, address: Address, more: object) =>
  server.post(`/v2/crdt/${operation}`, { ...address, ...more })
const read = async (
  address: Address,
  more: object = {},
): Promise<{ data: unknown; type: string; version: string }> => {
  const { body } = await call('get', address, more)
  const [found] = (body.result?.data ?? []) as { data: unknown; type: string; version: string }[]
  if (found === undefined) throw new Error(`nothing there: ${body.error?.message}`)
  return found
}

beforeAll(async () => {
  server = await startTestServer()
  token = await server.token('ada')
})

afterAll(() => server.stop())

const samples: readonly (readonly [type: string, from: unknown, to: unknown])[] = [
  ['text', 'one\ntwo', 'one\nand two'],
  [
    'map',
    { title: 'a', tags: ['x', 'y'], n: 1.5, none: null },
    { title: 'b', tags: ['x', 'z'], more: { deep: true } },
  ],
  ['array', [{ id: 1, name: 'a' }, 2, 'three'], ['three', { id: 1, name: 'b' }]],
  [
    'xml',
    '<paragraph>Hello</paragraph>',
    '<paragraph>Hello <bold>you</bold></paragraph><image src="a.png"></image>',
  ],
  [
    'delta',
    [{ insert: 'plain ' }, { insert: 'bold', attributes: { bold: true } }, { insert: '\n' }],
    [{ insert: 'plain\n' }],
  ],
  [
    'xmltext',
    {
      attributes: { dir: 'ltr' },
      delta: [
        {
          text: {
            attributes: { type: 'paragraph', id: 1 },
            delta: [{ insert: 'plain ' }, { insert: 'bold', attributes: { bold: true } }],
          },
        },
      ],
    },
    {
      delta: [
        {
          text: {
            attributes: { type: 'paragraph', id: 1 },
            delta: [{ insert: 'plain and ' }, { map: { type: 'break' } }, { insert: { image: 'a.png' } }],
          },
        },
        { text: { delta: [{ element: { name: 'rule', attributes: { wide: true } } }] } },
      ],
    },
  ],
]

describe('every type', () => {
  it.each(samples)(
    '[CRDT-30] %s: adds, reads and replaces content; content that is written back as it was read changes nothing',
    async (type, from, to) => {
      const address = newAddress()
      expect((await call('add', address, { type, data: from })).status).toBe(200)
      const format = type === 'delta' ? { format: 'delta' } : {}
      for (const data of [from, to]) {
        expect((await call('update', address, { type, data })).status).toBe(200)
        const found = await read(address, format)
        expect(found.type).toBe(type)
        const client = await RawClient.connect(
          `${server.wsUrl}/sync/acme/${address.documentId}/main?token=${token}`,
        )
        await client.roundTrip()
        const again = await call('update', address, { type, data: found.data })
        expect(again.body.result?.data).toMatchObject({ changed: false, bytes: 0, version: found.version })
        await client.roundTrip()
        expect(client.updates()).toEqual([])
        client.end()
      }
    },
  )

  it('[CRDT-30] reads and writes texts without attributes as XML or xmltext, as the caller requests', async () => {
    const address = newAddress()
    const data = { delta: [{ text: { delta: [{ insert: 'bare' }] } }] }
    expect((await call('add', address, { type: 'xmltext', data })).status).toBe(200)
    expect(await read(address)).toMatchObject({ type: 'xml', data: 'bare' })
    const found = await read(address, { format: 'xmltext' })
    expect(found).toMatchObject({ type: 'xmltext', data })
    for (const [type, same] of [['xmltext', found.data] as const, ['xml', 'bare'] as const]) {
      const again = await call('update', address, { type, data: same })
      expect(again.body.result?.data).toMatchObject({ changed: false, bytes: 0, version: found.version })
    }
  })

  it('[CRDT-31] rejects an update whose content has another type than the root, and states the type', async () => {
    for (const [type, from] of samples) {
      const address = newAddress()
      await call('add', address, { type, data: from })
      const before = await read(address)
      for (const [other, , to] of samples) {
        const kinds = [type, other].map((name) => (name === 'delta' ? 'text' : name))
        if (kinds[0] === kinds[1]) continue
        const { body } = await call('update', address, { type: other, data: to })
        expect(body.error).toMatchObject({
          status: 'INVALID_ARGUMENT',
          message: expect.stringContaining(`not "${other}"`),
        })
      }
      expect(await read(address)).toEqual(before)
    }
  })

  it('[CRDT-32] changes maps, arrays and XML in place for connected clients', async () => {
    const address = newAddress()
    await call('add', address, { type: 'map', data: { a: 1 }, contentKey: 'board' })
    const editor = await syncedEditor(server.wsUrl, `acme/${address.documentId}/main`, token)
    const list = new Y.Array<number>()
    editor.doc.getMap('board').set('list', list)
    list.push([1, 2, 3])
    await eventually(async () =>
      JSON.stringify((await read(address, { contentKey: 'board' })).data).includes('3'),
    )
    const data = { a: 2, list: [1, 3, 4] }
    expect((await call('update', address, { type: 'map', data, contentKey: 'board' })).status).toBe(200)
    await eventually(() => JSON.stringify(list.toJSON()) === '[1,3,4]')
    expect(editor.doc.getMap('board').get('list')).toBe(list)
    editor.close()
  })
})

/** Contents that the server must reject. */
function hostileContents(): [type: string, data: unknown][] {
  const deep = (depth: number, leaf: unknown = 1): unknown => (depth === 0 ? leaf : [deep(depth - 1, leaf)])
  const xml = (texts: readonly string[]): [string, unknown][] => texts.map((text) => ['xml', text])
  const wrong = ['text', 'xml'].flatMap((type): [string, unknown][] =>
    [1, true, null, {}, [], [''], { toString: 'x' }].map((data) => [type, data]),
  )
  const notMaps = [1, 'x', null, [], true, [[]]].map((data): [string, unknown] => ['map', data])
  const notArrays = [1, 'x', null, {}, true, { length: 1 }].map((data): [string, unknown] => ['array', data])
  const deltas = [
    1,
    'x',
    null,
    {},
    { ops: 1 },
    [1],
    [{}],
    [{ insert: 1 }],
    [{ retain: 1 }],
    [{ delete: 1 }],
    [{ insert: 'a', attributes: 1 }],
    [{ insert: null }],
    [{ insert: 'a' }, { retain: 1 }],
    [{ insert: 'a', more: 1 }, null],
    [[{ insert: 'a' }]],
  ]
  const xmltexts = [
    1,
    'x',
    null,
    [],
    { ops: [] },
    { delta: {} },
    { delta: [1] },
    { delta: [{}] },
    { delta: [{ insert: 1 }] },
    { delta: [{ insert: 'no text' }] },
    { delta: [{ text: {}, map: {} }] },
    { delta: [{ text: { delta: [{ element: {} }] } }] },
  ]
  return [
    ...wrong,
    ...notMaps,
    ...notArrays,
    ...deltas.map((data): [string, unknown] => ['delta', data]),
    ...xmltexts.map((data): [string, unknown] => ['xmltext', data]),
    ['map', { a: deep(70) }],
    ['array', deep(70)],
    ['array', Array<number>(200_001).fill(1)],
    ['constructor', 'x'],
    ['toString', 'x'],
    ['__proto__', 'x'],
    ['', 'x'],
    ['TEXT', 'x'],
    ...xml([
      '<',
      '<a',
      '<a>',
      '</a>',
      '<a></b>',
      '<a/',
      '<a b></a>',
      '<a b=c></a>',
      '<a b="1" b="2"></a>',
      '<a b="<"></a>',
      '&',
      '&amp',
      '&nope;',
      '&#xD800;',
      '&#0;',
      '&#x110000;',
      '&#;',
      '<a>]]></a',
      '<!-- -- -->',
      '<!--',
      '<![CDATA[',
      '<?',
      '<?xml',
      '<!DOCTYPE a>',
      '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
      '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
      '<!ELEMENT a>',
      '<a><!DOCTYPE b></a>',
      '<a b="1" b="1"/>',
      '<a>&#xFFFFFFFFFF;</a>',
      '<a>&#xZZ;</a>',
      '<a b="&nope;"/>',
      '<a></a ',
      '<a><![CDATA[x</a>',
      '<a><!-- x</a>',
      '<1a/>',
      '< a/>',
      '<a/ >',
      '<a\u0000/>',
      '\u0001',
      '<a>\u0008</a>',
      '<a>\ufffe</a>',
      '<a b="\u0003"/>',
      '<a\u00d7/>',
      '<a>&#8;</a>',
      '<a><b></a></b>',
      'text</a>',
      '<a b="1"c="2"/>',
      "<a b='1/>",
      '<a b="&"/>',
      '<a b="&lt"/>',
      '<a>'.repeat(200) + '</a>'.repeat(200),
      '<a>'.repeat(50_000),
      '<a/>'.repeat(200_001),
      `<a ${Array.from({ length: 257 }, (_, n) => `a${n}="1"`).join(' ')}/>`,
    ]),
  ] as [string, unknown][]
}

it('[CRDT-33] rejects more than a hundred hostile contents in limited time, names the problem, and changes nothing', async () => {
  const address = newAddress()
  await call('add', address, { type: 'text', data: 'untouched' })
  const before = await read(address)
  const contents = hostileContents()
  expect(contents.length).toBeGreaterThan(105)
  for (const [type, data] of contents) {
    const { status, body } = await call('update', address, {
      type,
      data,
      contentKey: type === 'text' ? 'content' : 'other',
      newRoot: true,
    })
    expect([status, body.error?.status], JSON.stringify([type, data])?.slice(0, 200)).toEqual([
      400,
      'INVALID_ARGUMENT',
    ])
    expect(body.error?.message.length).toBeGreaterThan(10)
  }
  expect(await read(address)).toEqual(before)
}, 60_000)
