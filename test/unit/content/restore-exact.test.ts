import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { restoreContent } from '../../../src/core/content/restore.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { storedContent } from '../../support/stores/stored-content.ts'
import { itLong, times } from '../../support/time/full-run.ts'

const rounds = times(60, 300)

type Shared = NonNullable<ReturnType<Y.Doc['share']['get']>>

const words = ['a', 'be ', 'Zoë', '漢字', '😀', 'lorem ipsum', '\n', ' ']
const names = ['paragraph', 'heading', 'bold', 'tableCell', 'image']
const formats: readonly Record<string, unknown>[] = [
  { bold: {} },
  { bold: true },
  { bold: null },
  { link: { href: 'x', target: null } },
  { 'comment--abcdefgh': { id: 2 } },
]
const plain = [
  1,
  '1',
  true,
  'true',
  null,
  { a: [1, { b: 2 }] },
  '{"a":1}',
  [100],
  '[100]',
  0.5,
  '',
  new Uint8Array([1]),
]

const textOf = <T extends Y.Text>(text: T, random: Random): T => {
  text.applyDelta([
    { insert: random.pick(words) },
    { insert: random.pick(words), attributes: random.pick(formats) },
  ])
  return text
}

function elementOf(random: Random, depth = 0): Y.XmlElement {
  const element = new Y.XmlElement(random.pick(names))
  if (random.below(2) === 0) element.setAttribute('width', random.pick(plain) as string)
  const count = random.below(3)
  const child = () =>
    depth < 2 && random.below(2) === 0 ? elementOf(random, depth + 1) : textOf(new Y.XmlText(), random)
  element.insert(0, Array.from({ length: count }, child))
  return element
}

function sharedOf(random: Random, depth = 0): unknown {
  const inner = () => (depth < 2 ? sharedOf(random, depth + 1) : random.pick(plain))
  const makers: readonly (() => unknown)[] = [
    () => textOf(new Y.Text(), random),
    () => new Y.Map<unknown>([['inner', inner()]]),
    () => Y.Array.from([random.pick(plain), inner()] as object[]),
    () => elementOf(random),
    () => {
      const fragment = new Y.XmlFragment()
      fragment.insert(0, [elementOf(random)])
      return fragment
    },
  ]
  return random.pick(makers)()
}

function typesIn(type: Shared): readonly Shared[] {
  const items = [...type._map.values()]
  for (let item = type._start; item !== null; item = item.right) items.push(item)
  const inner = items.flatMap(({ deleted, content }) =>
    deleted || !(content instanceof Y.ContentType) ? [] : typesIn(content.type as Shared),
  )
  return [type, ...inner]
}

function editText(text: Y.Text, random: Random): void {
  const at = random.below(text.length + 1)
  const rest = text.length - at
  const edits = [
    () => text.insert(at, random.pick(words)),
    () => text.delete(at, random.below(rest + 1)),
    () => text.format(at, random.below(rest + 1), random.pick(formats)),
    () => text.insertEmbed(at, { image: random.below(3) }),
    () => text.setAttribute('dir', random.below(3)),
    () =>
      text.insertEmbed(
        at,
        text instanceof Y.XmlText ? textOf(new Y.XmlText(), random) : (sharedOf(random) as object),
      ),
  ]
  random.pick(edits)()
}

function editXml(xml: Y.XmlFragment, random: Random): void {
  const at = random.below(xml.length + 1)
  const edits = [
    () => xml.insert(at, [elementOf(random)]),
    () => xml instanceof Y.XmlElement && xml.insert(at, [textOf(new Y.XmlText(), random)]),
    () => xml.insert(at, [new Y.XmlHook('hook') as unknown as Y.XmlElement]),
    () => xml.length > at && xml.delete(at, 1),
    () => xml instanceof Y.XmlElement && xml.setAttribute('width', random.pick(plain)),
    () => xml instanceof Y.XmlElement && xml.removeAttribute('width'),
  ]
  random.pick(edits)()
}

function edit(doc: Y.Doc, random: Random): void {
  const slate = doc.get('slate', Y.XmlText)
  const roots = [
    doc.getXmlFragment('default'),
    doc.getMap('map'),
    doc.getArray('array'),
    doc.getText('text'),
    slate,
  ]
  const type: unknown = random.pick(typesIn(random.pick(roots) as Shared))
  const value = random.below(2) === 0 ? random.pick(plain) : sharedOf(random)
  doc.transact(() => {
    if (type instanceof Y.Text) editText(type, random)
    else if (type instanceof Y.XmlFragment) editXml(type, random)
    else if (type instanceof Y.Map && !(type instanceof Y.XmlHook))
      type.set(random.pick(['a', 'inner']), value)
    else if (type instanceof Y.Array && random.below(3) > 0)
      type.insert(random.below(type.length + 1), [value])
    else if (type instanceof Y.Array && type.length > 0) type.delete(random.below(type.length), 1)
  })
}

const copyOf = (doc: Y.Doc): Y.Doc => {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  return copy
}

it(`[VER-20] after any edits, restores exactly the stored content in all replicas, and changes nothing the second time (seed ${seed})`, () => {
  for (let round = 0; round < rounds; round++) {
    const random = new Random(seed + round)
    const doc = new Y.Doc()
    const pasts = [copyOf(doc)]
    for (let step = random.below(25); step >= 0; step--) {
      edit(doc, random)
      if (random.below(5) === 0) pasts.push(copyOf(doc))
    }
    const [present, past] = [copyOf(doc), random.pick(pasts)]
    const updates: Uint8Array[] = []
    present.on('update', (update: Uint8Array) => void updates.push(update))
    const { changed } = restoreContent(present, past)
    const other = copyOf(doc)
    for (const update of updates) Y.applyUpdate(other, update)
    const where = `seed ${seed + round}`
    expect(storedContent(present), where).toEqual(storedContent(past))
    expect(storedContent(other), where).toEqual(storedContent(past))
    expect(updates.length, where).toBe(changed ? 1 : 0)
    expect([restoreContent(present, past).changed, updates.length], where).toEqual([false, changed ? 1 : 0])
  }
})

it('[VER-20] restores attributes with the types that they had (numbers, lists, texts), and an embed as an embed', () => {
  const doc = new Y.Doc()
  const root = doc.getXmlFragment('default')
  const image = (width: unknown) => {
    const element = new Y.XmlElement('image')
    element.setAttribute('width', width as string)
    return element
  }
  const text = new Y.XmlText('formula: ')
  text.insertEmbed(9, { formula: 'a+b' })
  const paragraph = new Y.XmlElement('paragraph')
  paragraph.insert(0, [text])
  root.insert(0, [image(300), image('50%'), image('70%'), image([100]), image('300'), image(null), paragraph])
  const past = copyOf(doc)
  text.delete(9, 1)
  root.delete(0, 1)
  root.delete(2, 3)
  restoreContent(doc, past)
  const widths = root.toArray().slice(0, 6) as Y.XmlElement[]
  expect(widths.map((element) => element.getAttributes().width)).toEqual([
    300,
    '50%',
    '70%',
    [100],
    '300',
    null,
  ])
  expect(text.toDelta()).toEqual([{ insert: 'formula: ' }, { insert: { formula: 'a+b' } }])
})

it('[VER-20] restores the borders between adjacent texts, and keeps texts that are equal', () => {
  const doc = new Y.Doc()
  const root = doc.getXmlFragment('default')
  const paragraph = new Y.XmlElement('paragraph')
  const [first, second] = [new Y.XmlText('warp'), new Y.XmlText('weft')]
  paragraph.insert(0, [first, second])
  root.insert(0, [paragraph])
  const past = copyOf(doc)
  const cursor = Y.createRelativePositionFromTypeIndex(second, 2)
  for (const at of [1, 0, 4]) paragraph.insert(at, [new Y.XmlText('')])
  restoreContent(doc, past)
  expect(paragraph.toArray().map(String)).toEqual(['warp', 'weft'])
  expect(Y.createAbsolutePositionFromRelativePosition(cursor, doc)).toMatchObject({ type: second, index: 2 })
  paragraph.delete(0, 2)
  restoreContent(doc, past)
  expect(paragraph.toArray().map(String)).toEqual(['warp', 'weft'])
})

const unsayable: readonly (readonly [string, (doc: Y.Doc) => void])[] = [
  ['an empty key', (doc) => doc.getMap('map').set('', 1)],
  ['a long key, of a shared value', (doc) => doc.getMap('map').set('k'.repeat(5_000), new Y.Text('inner'))],
  ['the key __proto__', (doc) => doc.getMap('map').set('__proto__', 1)],
  [
    'references to subdocuments',
    (doc) => {
      doc.getMap('map').set('page', new Y.Doc({ guid: 'page-1', meta: { title: 'One' } }))
      doc.getArray('list').push(['a', new Y.Doc({ guid: '', gc: false, autoLoad: true }), 'b'])
    },
  ],
  ['a long attribute of a text', (doc) => textIn(doc).setAttribute('k'.repeat(5_000), 1)],
  ['a fragment in a text', (doc) => textIn(doc).insertEmbed(0, new Y.XmlFragment())],
]
const textIn = (doc: Y.Doc): Y.XmlText => {
  const text = new Y.XmlText('x')
  const slate = doc.get('slate', Y.XmlText)
  slate.insertEmbed(0, text)
  return text
}
it.each(unsayable)('[VER-20] restores content that no replacement can express: %s', (_, make) => {
  restoreThereAndBack(make)
})

it.runIf(process.env.WEFT_TEST_LONG === '1')(
  '[VER-20] restores content that no replacement can express: more formatting than fits into a delta',
  () => {
    const operations = Array.from({ length: 210_000 }, (_, at) => ({ insert: 'a', attributes: { b: at } }))
    restoreThereAndBack((doc) => doc.getText('text').applyDelta(operations))
  },
)

function restoreThereAndBack(make: (doc: Y.Doc) => void): void {
  const doc = new Y.Doc()
  const [before, other] = [copyOf(doc), new Y.Doc()]
  make(doc)
  const past = copyOf(doc)
  restoreContent(doc, before)
  for (const present of [doc, other]) {
    expect(restoreContent(present, past).changed).toBe(true)
    expect(isDeepStrictEqual(storedContent(present), storedContent(past))).toBe(true)
    expect(restoreContent(present, past).changed).toBe(false)
  }
}

itLong('[VER-20] restores one changed value among very many values and adjacent texts', () => {
  const doc = new Y.Doc()
  const fragment = doc.getXmlFragment('default')
  for (let copies = 0; copies < 8; copies++)
    fragment.insert(
      0,
      Array.from({ length: 20_000 }, () => new Y.XmlText('a')),
    )
  const list = doc.getArray<unknown>('list')
  const many = Array.from({ length: 200_000 }, (_, at) => at)
  for (const start of [0, 200_000]) list.insert(start, many)
  const past = copyOf(doc)
  list.delete(200_000, 1)
  fragment.insert(1_000, [new Y.XmlText('b')])
  restoreContent(doc, past)
  expect(isDeepStrictEqual(list.toArray(), [...many, ...many])).toBe(true)
  expect(fragment.toString() === 'a'.repeat(160_000)).toBe(true)
})
