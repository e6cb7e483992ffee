// @vitest-environment dom
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { checkChange } from '../../src/core/content/root-change.ts'
import type { NamedSchema } from '../../src/core/content/schemas/content-schema.ts'
import { schemaJson } from '../support/data/schema-json.ts'
import { schemaOfBlockNote, schemaOfTiptap } from './installed-schemas.ts'
import { judges } from './judges.ts'
import { proseMirrorSchema } from './prosemirror.ts'
import type { Judge } from './third-party-editor.ts'

interface Written {
  readonly type: string
  readonly data: unknown
}

const markdown = (data: string): Written => ({ type: 'markdown', data })
const html = (data: string): Written => ({ type: 'html', data })
const xml = (data: string): Written => ({ type: 'xml', data })
const prosemirror = (...data: object[]): Written => ({ type: 'prosemirror', data })

const textOf = (text: string, ...marks: object[]): object => ({ type: 'text', text, marks })

/** Content in the names of Tiptap. The first block of each is the one in which the user types. */
const tiptap: readonly Written[] = [
  markdown('A [link](https://a.example) and **bold `code`**'),
  markdown('# Title\n\n1. one\n\n| a | b |\n| - | - |\n| c | d |\n\nend'),
  html('<p>A <a href="/a" title="t">link</a>, <u>under</u></p>'),
  html('<p>a</p><ol><li>one</li></ol><table><tr><td>a</td></tr></table><p>end</p>'),
  xml('<heading>Title</heading><paragraph><link href="/a">b</link></paragraph>'),
  xml('<paragraph>c <link href="/a">b</link> c</paragraph>'),
  xml(
    '<paragraph>a</paragraph><orderedList><listItem><paragraph>one</paragraph></listItem></orderedList><paragraph>end</paragraph>',
  ),
  xml('<paragraph>a<mention id="ann"/></paragraph>'),
  prosemirror(
    { type: 'heading', content: [textOf('a'), textOf('b', { type: 'bold' })] },
    { type: 'paragraph' },
  ),
  prosemirror({
    type: 'paragraph',
    content: [textOf('c'), textOf('a', { type: 'link', attrs: { href: '/a' } })],
  }),
  prosemirror({
    type: 'paragraph',
    content: [textOf('b'), textOf('a', { type: 'textStyle', attrs: { color: 'red' } })],
  }),
]

/** Content in the names of ProseMirror. */
const basic: readonly Written[] = [
  markdown('A [link](https://a.example), *em* and `code`'),
  markdown('# Title\n\n1. one'),
  html('<p>A <a href="/a">link</a></p><ol><li>one</li></ol>'),
  xml('<heading>Title</heading><ordered_list><list_item><paragraph>a</paragraph></list_item></ordered_list>'),
  xml('<paragraph>c<comment id="c1">a</comment>b</paragraph>'),
  prosemirror({
    type: 'paragraph',
    content: [
      textOf('c'),
      textOf('a', { type: 'comment', attrs: { id: 'c1' } }),
      textOf('b', { type: 'comment', attrs: { id: 'c1' } }, { type: 'comment', attrs: { id: 'c2' } }),
    ],
  }),
]

const inBlocks = (xml: string): string =>
  `<blockGroup><blockContainer id="1">${xml}</blockContainer>` +
  '<blockContainer id="2"><paragraph/></blockContainer></blockGroup>'

/** Content in the names of BlockNote. */
const blocknote: readonly Written[] = [
  xml(inBlocks('<heading>Title</heading>')),
  xml(
    inBlocks('<paragraph>a <link href="/a">b</link> <textColor stringValue="red">c</textColor></paragraph>'),
  ),
  xml(inBlocks('<checkListItem>a</checkListItem>')),
  xml(inBlocks('<paragraph>a</paragraph>').replaceAll(/ id="."/g, '')),
  xml(inBlocks('<numberedListItem start="3">a</numberedListItem>')),
]

const contents: Readonly<Record<string, readonly Written[]>> = {
  Tiptap: tiptap,
  ProseMirror: basic,
  BlockNote: blocknote,
}

const presets: Readonly<Record<string, string>> = { Tiptap: 'tiptap', BlockNote: 'blocknote' }

/** Returns the preset of an editor, if it has one with all its nodes, and the schema that its code states. */
function schemasOf(name: string): readonly NamedSchema[] {
  const installed = {
    Tiptap: schemaOfTiptap(true),
    BlockNote: schemaOfBlockNote(),
    ProseMirror: proseMirrorSchema,
  }
  const own = { name: 'own', spec: schemaJson(installed[name as keyof typeof installed]) }
  const preset = presets[name]
  return preset === undefined ? [own] : [{ name: preset, spec: null }, own]
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))

/** Everything that is stored in a root, in an order that does not depend on the order of writing. */
function storedIn(type: Y.XmlFragment | Y.XmlElement | Y.XmlText): unknown {
  if (type instanceof Y.XmlText) return type.toDelta() as unknown
  const attributes = type instanceof Y.XmlElement ? Object.entries(type.getAttributes()).sort() : []
  return [
    type instanceof Y.XmlElement ? type.nodeName : '',
    attributes.filter(([, value]) => value !== undefined),
    type.toArray().map((child) => storedIn(child as Y.XmlElement)),
  ]
}

/** Opens an editor on the document, and types one character. Returns the updates of both. */
async function opened(
  judge: Judge,
  doc: Y.Doc,
): Promise<{ opening: Uint8Array[]; typing: Uint8Array[]; shown: unknown }> {
  const client = new Y.Doc()
  Y.applyUpdate(client, Y.encodeStateAsUpdate(doc))
  const updates: Uint8Array[] = []
  client.on('update', (update: Uint8Array) => updates.push(update))
  const seat = judge.open(client)
  await settled()
  const opening = updates.splice(0)
  const shown = seat.shown()
  seat.type('x')
  await settled()
  seat.close()
  return { opening, typing: updates, shown }
}

/** Returns what the editor stores when a user writes the content. */
async function storedByEditor(judge: Judge, shown: unknown): Promise<unknown> {
  const doc = new Y.Doc()
  const seat = judge.open(doc)
  await settled()
  seat.write(judge.fromShown === undefined ? shown : judge.fromShown(shown))
  await settled()
  seat.close()
  return storedIn(doc.getXmlFragment(judge.contentKey))
}

/** Everything that an update contains, except one inserted character. */
const besidesOneCharacter = (update: Uint8Array): unknown => {
  const { structs, ds } = Y.decodeUpdate(update)
  const others = structs.filter(
    (struct) =>
      !(struct instanceof Y.Item && struct.content instanceof Y.ContentString && struct.length === 1),
  )
  return {
    structs: others.map((struct) => (struct instanceof Y.Item ? struct.content : struct)),
    deleted: [...ds.clients.values()].flat().length,
  }
}

describe.each(Object.keys(contents))('%s', (name) => {
  it.each(contents[name]?.map((content) => [content] as const) ?? [])(
    '[FMT-150] changes nothing when the editor opens %j, and only what the user types then',
    async ({ type, data }) => {
      const judge = judges[name] as Judge
      for (const schema of schemasOf(name)) {
        const doc = new Y.Doc()
        const { contentKey } = judge
        checkChange({ type, contentKey, data, schema }).apply(doc)
        const { opening, typing, shown } = await opened(judge, doc)
        expect(opening).toEqual([])
        expect(storedIn(doc.getXmlFragment(contentKey))).toEqual(await storedByEditor(judge, shown))
        expect(typing.map(besidesOneCharacter)).toEqual([{ structs: [], deleted: 0 }])
      }
    },
  )
})
