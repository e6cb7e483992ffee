import * as fc from 'fast-check'
import { type Mark, type Node, type NodeType, Schema } from 'prosemirror-model'
import { marks as basicMarks, nodes as basicNodes } from 'prosemirror-schema-basic'
import { bulletList, listItem, orderedList } from 'prosemirror-schema-list'
import { prosemirrorToYXmlFragment, updateYFragment, yXmlFragmentToProseMirrorRootNode } from 'y-prosemirror'
import * as Y from 'yjs'
import { loaded, updatesOf } from './support.ts'
import { richKey } from './xml-support.ts'

/** ProseMirror's basic schema with lists. */
export const basicSchema = new Schema({
  nodes: {
    ...basicNodes,
    ordered_list: { ...orderedList, content: 'list_item+', group: 'block' },
    bullet_list: { ...bulletList, content: 'list_item+', group: 'block' },
    list_item: { ...listItem, content: 'paragraph block*' },
  },
  marks: basicMarks,
})

/** Names, nesting and values of Tiptap's extensions: tables, tasks, mentions, comments that may overlap. */
export const tiptapSchema = new Schema({
  nodes: {
    doc: { content: 'block+' },
    text: { group: 'inline' },
    paragraph: { content: 'inline*', group: 'block', attrs: { textAlign: { default: null } } },
    heading: { content: 'inline*', group: 'block', attrs: { level: { default: 1 }, id: { default: null } } },
    codeBlock: {
      content: 'text*',
      group: 'block',
      code: true,
      marks: '',
      attrs: { language: { default: null } },
    },
    bulletList: { content: 'listItem+', group: 'block' },
    orderedList: { content: 'listItem+', group: 'block', attrs: { start: { default: 1 } } },
    listItem: { content: 'paragraph block*' },
    taskItem: { content: 'paragraph', group: 'block', attrs: { checked: { default: false } } },
    table: { content: 'tableRow+', group: 'block' },
    tableRow: { content: 'tableCell+' },
    tableCell: {
      content: 'block+',
      attrs: { colspan: { default: 1 }, rowspan: { default: 1 }, colwidth: { default: null } },
    },
    hardBreak: { inline: true, group: 'inline' },
    image: {
      inline: true,
      group: 'inline',
      attrs: { src: {}, alt: { default: null }, meta: { default: null } },
    },
  },
  marks: {
    bold: {},
    italic: {},
    code: {},
    link: { attrs: { href: {}, target: { default: '_blank' }, class: { default: null } } },
    textStyle: { attrs: { color: { default: null }, fontSize: { default: null } } },
    comment: { attrs: { id: {}, resolved: { default: false } }, excludes: '' },
  },
})

const texts = fc
  .array(fc.constantFrom('word', ' ', '  ', '\n', '\t', '&<>"', ']]>', '😀', 'é', 'a b', '\u000b'), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => parts.join(''))

const json = fc.constantFrom<unknown>(null, [100], { w: 1, deep: { x: [true] } }, 'plain', 7, false)

const valuesOf: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  level: fc.integer({ min: 1, max: 6 }),
  order: fc.integer({ min: 1, max: 9 }),
  start: fc.integer({ min: 1, max: 9 }),
  colspan: fc.constantFrom(1, 2),
  rowspan: fc.constantFrom(1, 3),
  checked: fc.boolean(),
  resolved: fc.boolean(),
  id: fc.constantFrom('a', 'b', 'c d', '1'),
  colwidth: fc.constantFrom(null, [100], [20, 30]),
  meta: json,
}

const attributeValue = (name: string): fc.Arbitrary<unknown> =>
  valuesOf[name] ?? fc.constantFrom('x', '', 'a "b" <c>\n', '/path?a=1&b=2')

const attributesFor = (spec: Record<string, unknown> | undefined): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(Object.fromEntries(Object.keys(spec ?? {}).map((name) => [name, attributeValue(name)])))

const marksOf = (schema: Schema): fc.Arbitrary<readonly Mark[]> =>
  fc
    .array(
      fc
        .constantFrom(...Object.values(schema.marks))
        .chain((type) => attributesFor(type.spec.attrs).map((attrs) => type.create(attrs))),
      { maxLength: 3 },
    )
    .map((marks) => marks.reduce<readonly Mark[]>((set, mark) => mark.addToSet(set), []))

const textNode = (schema: Schema, marked: boolean): fc.Arbitrary<Node> =>
  fc.tuple(texts, marked ? marksOf(schema) : fc.constant([])).map(([text, marks]) => schema.text(text, marks))

/** Any valid document of a schema, built from its content expressions, at most three blocks deep. */
export function documents(schema: Schema): fc.Arbitrary<Node> {
  const known = new Map<string, fc.Arbitrary<Node>>()
  const nodeOf = (name: string, depth: number, marked: boolean): fc.Arbitrary<Node> => {
    if (name === 'text') return textNode(schema, marked)
    const key = `${name} ${depth}`
    const found = known.get(key) ?? make(schema.nodes[name] as NodeType, depth)
    known.set(key, found)
    return found
  }
  const make = (type: NodeType, depth: number): fc.Arbitrary<Node> => {
    const marked = type.spec.marks !== ''
    const terms = (type.spec.content ?? '').split(' ').filter((term) => term !== '')
    const content = fc.tuple(...terms.map((term) => termOf(term, depth, marked)))
    return fc
      .tuple(attributesFor(type.spec.attrs), content)
      .map(([attrs, parts]) => type.create(attrs, parts.flat()))
  }
  const termOf = (term: string, depth: number, marked: boolean): fc.Arbitrary<Node[]> => {
    const [, name = '', count = ''] = /^(\w+)([*+]?)$/.exec(term) ?? []
    const group = Object.keys(schema.nodes).filter(
      (candidate) => candidate === name || schema.nodes[candidate]?.spec.group === name,
    )
    const isBlock = group.length > 1 && name === 'block'
    const names = isBlock && depth <= 0 ? ['paragraph'] : group
    const one = fc.oneof(...names.map((candidate) => nodeOf(candidate, isBlock ? depth - 1 : depth, marked)))
    const minLength = count === '*' ? 0 : 1
    return fc.array(one, { minLength, maxLength: count === '' ? 1 : 3 })
  }
  return nodeOf('doc', 3, true)
}

/** A document in the form in which the binding of the editor stores it, on a server. */
export function stored(node: Node, key = richKey): Y.Doc {
  const author = new Y.Doc()
  author.clientID = 1
  prosemirrorToYXmlFragment(node, author.getXmlFragment(key))
  return loaded(author)
}

/** The content that the editor shows. */
export const shown = (doc: Y.Doc, schema: Schema, key = richKey): Node =>
  yXmlFragmentToProseMirrorRootNode(loaded(doc).getXmlFragment(key), schema)

/** Updates that the binding sends when it writes a document that it regards as equal. */
export function correctionsOf(doc: Y.Doc, node: Node, key = richKey): Uint8Array[] {
  const copy = loaded(doc, 9)
  const fragment = copy.getXmlFragment(key)
  return updatesOf(copy, () =>
    updateYFragment(copy, fragment, node, { mapping: new Map(), isOMark: new Map() }),
  )
}

/**
 * Returns whether a text without characters is left. A text that was emptied stays in its element, as in the
 * binding, which removes it when a neighbor differs.
 */
export function hasEmptiedText(type: Y.AbstractType<unknown>): boolean {
  if (type instanceof Y.XmlText) return type.length === 0
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !(item.content instanceof Y.ContentType)) continue
    if (hasEmptiedText(item.content.type as Y.AbstractType<unknown>)) return true
  }
  return false
}
