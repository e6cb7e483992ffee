import * as fc from 'fast-check'
import type { Node, Schema } from 'prosemirror-model'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { ApiError } from '../../../../src/core/base/errors.ts'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import { checkSchema } from '../../../../src/core/content/schemas/check-schema.ts'
import { type CompiledSchema, compileSchema } from '../../../../src/core/content/schemas/compiled-schema.ts'
import { checkAgainstSchema } from '../../../../src/core/content/schemas/content-schema.ts'
import { presetSchema } from '../../../../src/core/content/schemas/presets/presets.ts'
import { schemaJson } from '../../../support/data/schema-json.ts'
import { runs } from '../support.ts'
import { basicSchema, documents, stored, tiptapSchema } from '../xml-editors.ts'
import { richKey } from '../xml-support.ts'
import { findViolation } from './first-violation.ts'

const compiled = (schema: Schema): CompiledSchema => compileSchema(checkSchema(schemaJson(schema)))

const schemas = [
  ['basic', basicSchema],
  ['Tiptap', tiptapSchema],
] as const

test.each(schemas)('[FMT-82] finds no violation in valid documents: %s', (_name, schema) => {
  const rules = compiled(schema)
  fc.assert(
    fc.property(documents(schema), (node) => {
      expect(findViolation(stored(node), richKey, rules)).toBeNull()
    }),
    runs,
  )
})

interface NodeJson {
  type: string
  text?: string
  attrs?: Record<string, unknown>
  marks?: { type: string; attrs?: Record<string, unknown> }[]
  content?: NodeJson[]
}

/** One change of a document that may make it invalid. */
const mutations = fc.record({
  at: fc.nat(200),
  child: fc.nat(5),
  other: fc.nat(200),
  what: fc.constantFrom('remove', 'copy', 'rename', 'mark', 'forget' as const),
})

function mutate(
  json: NodeJson,
  schema: Schema,
  { at, child, other, what }: { at: number; child: number; other: number; what: string },
): void {
  const nodes: NodeJson[] = []
  const visit = (node: NodeJson): void => {
    nodes.push(node)
    for (const each of node.content ?? []) visit(each)
  }
  visit(json)
  const node = nodes[at % nodes.length] as NodeJson
  const source = nodes[other % nodes.length] as NodeJson
  const names = Object.keys(schema.nodes).filter((name) => name !== 'text' && name !== 'doc')
  const marks = Object.keys(schema.marks)
  if (what === 'remove') node.content?.splice(child % (node.content.length || 1), 1)
  if (what === 'copy' && source.type !== 'doc' && node.type !== 'text') {
    node.content ??= []
    node.content.splice(child % (node.content.length + 1), 0, structuredClone(source))
  }
  if (what === 'rename' && node.type !== 'text' && node.type !== 'doc')
    node.type = names[other % names.length] as string
  if (what === 'mark' && node.type === 'text') {
    node.marks ??= []
    const type = marks[other % marks.length] as string
    if (!node.marks.some((mark) => mark.type === type))
      node.marks.push({ type, attrs: { href: 'x', id: 'y' } })
  }
  if (what === 'forget' && node.attrs !== undefined) delete node.attrs[Object.keys(node.attrs)[child] ?? '']
}

/** Writes a document that may be invalid, in the form of y-prosemirror. */
function written(json: NodeJson): Y.Doc {
  const doc = new Y.Doc()
  const fill = (parent: Y.XmlFragment, content: readonly NodeJson[]): void => {
    let texts: Y.XmlText | null = null
    for (const { type, text, attrs, marks, content: inner } of content) {
      if (text !== undefined) {
        if (texts === null) {
          texts = new Y.XmlText()
          parent.push([texts])
        }
        const formats = Object.fromEntries((marks ?? []).map((mark) => [mark.type, mark.attrs ?? {}]))
        const cleared = Object.fromEntries(
          Object.keys(texts.toDelta().at(-1)?.attributes ?? {}).map((name) => [name, null]),
        )
        texts.insert(texts.length, text, { ...cleared, ...formats })
        continue
      }
      texts = null
      const element = new Y.XmlElement(type)
      parent.push([element])
      for (const [name, value] of Object.entries(attrs ?? {}))
        if (value !== null) element.setAttribute(name, value as string)
      fill(element, inner ?? [])
    }
  }
  fill(doc.getXmlFragment(richKey), json.content ?? [])
  return doc
}

const plain = (json: NodeJson, schema: Schema): NodeJson => {
  const known = new Set(Object.keys(schema.nodes[json.type]?.spec.attrs ?? {}))
  const attrs = Object.entries(json.attrs ?? {}).filter(([name, value]) => known.has(name) && value !== null)
  const marks = json.marks?.map(({ type, attrs: values }) => {
    const names = new Set(Object.keys(schema.marks[type]?.spec.attrs ?? {}))
    return {
      type,
      attrs: Object.fromEntries(Object.entries(values ?? {}).filter(([name]) => names.has(name))),
    }
  })
  return {
    ...json,
    ...(json.text === undefined && { attrs: Object.fromEntries(attrs) }),
    ...(marks !== undefined && { marks }),
    ...(json.content !== undefined && { content: json.content.map((node) => plain(node, schema)) }),
  }
}

/** Returns whether ProseMirror accepts a document. */
function isValid(json: NodeJson, schema: Schema): boolean {
  try {
    const node: Node = schema.nodeFromJSON(json)
    node.check()
    return true
  } catch {
    return false
  }
}

test.each(schemas)(
  '[FMT-82] finds a violation exactly when ProseMirror rejects the document: %s',
  (_name, schema) => {
    const rules = compiled(schema)
    const verdicts = new Map([
      [true, 0],
      [false, 0],
    ])
    fc.assert(
      fc.property(documents(schema), fc.array(mutations, { minLength: 1, maxLength: 2 }), (node, changes) => {
        const json = structuredClone(node.toJSON()) as NodeJson
        for (const change of changes) mutate(json, schema, change)
        const known = plain(json, schema)
        fc.pre(known.content !== undefined && known.content.length > 0)
        const verdict = isValid(known, schema)
        verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
        expect([verdict, findViolation(written(known), richKey, rules)]).toEqual([
          verdict,
          verdict ? null : expect.objectContaining({ path: expect.stringMatching(/^\/doc/) }),
        ])
      }),
      runs,
    )
    expect(Math.min(...verdicts.values())).toBeGreaterThan(0)
  },
)

const xml = (data: string, contentKey = 'default'): Y.Doc => {
  const doc = new Y.Doc()
  replaceContent(doc, { type: 'xml', contentKey, data })
  return doc
}

const violation = (data: string): unknown => findViolation(xml(data), 'default', presetSchema('tiptap'))

test('[FMT-83] reports the path, the problem and the alternatives of an unknown node', () => {
  expect(violation('<paragraph>a</paragraph><h2>b</h2>')).toEqual({
    path: '/doc/h2[1]',
    problem: 'the schema has no node "h2"',
    allowed: expect.arrayContaining(['paragraph', 'heading', 'bulletList']),
  })
})

test.each([
  [
    '<bulletList><listItem><paragraph/></listItem><paragraph/></bulletList>',
    {
      path: '/doc/bulletList[0]/paragraph[1]',
      problem: '"paragraph" is not allowed here',
      allowed: ['listItem'],
    },
  ],
  [
    '<bulletList><listItem><heading level="1"/></listItem></bulletList>',
    {
      path: '/doc/bulletList[0]/listItem[0]/heading[0]',
      problem: '"heading" is not allowed here',
      allowed: ['paragraph'],
    },
  ],
  [
    '<paragraph/><bulletList/>',
    { path: '/doc/bulletList[1]', problem: '"bulletList" ends too early', allowed: ['listItem'] },
  ],
  [
    'text',
    {
      path: '/doc/text[0]',
      problem: '"text" is not allowed here',
      allowed: expect.arrayContaining(['paragraph']),
    },
  ],
  [
    '<heading level="2" size="3">a</heading>',
    {
      path: '/doc/heading[0]/@size',
      problem: '"heading" has no attribute "size"',
      allowed: ['level', 'textAlign'],
    },
  ],
  [
    '<heading level="two">a</heading>',
    {
      path: '/doc/heading[0]/@level',
      problem: 'attribute "level" of "heading" has the type string',
      allowed: ['number'],
    },
  ],
  [
    '<paragraph>a<strong>b</strong></paragraph>',
    {
      path: '/doc/paragraph[0]/text[1]',
      problem: 'the schema has no mark "strong"',
      allowed: expect.arrayContaining(['bold']),
    },
  ],
  [
    '<codeBlock>a<bold>b</bold></codeBlock>',
    { path: '/doc/codeBlock[0]/text[1]', problem: 'the mark "bold" is not allowed here', allowed: [] },
  ],
  [
    '<paragraph><bold>a<code>b</code></bold></paragraph>',
    {
      path: '/doc/paragraph[0]/text[1]',
      problem: expect.stringMatching(/^the marks "(bold|code)" and "(bold|code)" exclude each other$/),
      allowed: expect.arrayContaining(['italic']),
    },
  ],
])('[FMT-83] reports the violation in %s', (data, expected) => {
  expect(violation(data)).toEqual(expected)
})

test('[FMT-83] reports a missing attribute of a node and of a mark', () => {
  const basic = presetSchema('prosemirror')
  expect(findViolation(xml('<paragraph><image/></paragraph>'), 'default', basic)).toEqual({
    path: '/doc/paragraph[0]/image[0]/@src',
    problem: '"image" needs the attribute "src"',
    allowed: ['src'],
  })
  const doc = xml('<paragraph>a</paragraph>')
  const text = (doc.getXmlFragment('default').get(0) as Y.XmlElement).get(0) as Y.XmlText
  text.format(0, 1, { link: { title: 'a' } })
  expect(findViolation(doc, 'default', basic)).toMatchObject({
    path: '/doc/paragraph[0]/text[0]/@href',
    problem: 'the mark "link" needs the attribute "href"',
  })
  text.format(0, 1, { link: '/a' })
  expect(findViolation(doc, 'default', basic)).toMatchObject({ allowed: ['object'] })
})

test('[FMT-83] reports values that are not nodes', () => {
  const doc = xml('<paragraph>a</paragraph>')
  const root = doc.getXmlFragment('default')
  const text = (root.get(0) as Y.XmlElement).get(0) as Y.XmlText
  text.insertEmbed(1, { image: 'x' })
  expect(findViolation(doc, 'default', presetSchema('tiptap'))).toMatchObject({
    path: '/doc/paragraph[0]',
    problem: 'a text contains a value that is not text',
  })
  root.insert(0, [new Y.XmlHook('widget') as unknown as Y.XmlElement])
  expect(findViolation(doc, 'default', presetSchema('tiptap'))).toMatchObject({
    path: '/doc',
    problem: 'it contains a value that is not a node',
  })
})

test('[FMT-82] accepts a root without content, and marks that may overlap', () => {
  expect(findViolation(new Y.Doc(), 'default', presetSchema('tiptap'))).toBeNull()
  const doc = xml('<paragraph>a</paragraph>')
  const text = (doc.getXmlFragment('default').get(0) as Y.XmlElement).get(0) as Y.XmlText
  text.format(0, 1, { 'highlight--AAAAAAAA': { color: 'red' }, 'highlight--BBBBBBBB': { color: null } })
  expect(findViolation(doc, 'default', presetSchema('tiptap'))).toBeNull()
  text.format(0, 1, { 'comment--AAAAAAAA': { id: '1' } })
  expect(findViolation(doc, 'default', presetSchema('tiptap'))).toMatchObject({
    problem: 'the schema has no mark "comment"',
  })
})

test('[FMT-83] throws an error that names the schema, the place and the alternatives', () => {
  const check = (): unknown =>
    checkAgainstSchema(xml('<h2>a</h2>'), 'default', presetSchema('tiptap'), 'tiptap')
  expect(check).toThrow(ApiError)
  expect(check).toThrow(
    /schema "tiptap" at \/doc\/h2\[0\]: the schema has no node "h2"; allowed: "paragraph", /,
  )
  const text = new Y.Doc()
  text.getText('default').insert(0, 'a')
  expect(() => checkAgainstSchema(text, 'default', presetSchema('tiptap'), 'tiptap')).toThrow(
    /is of type "text"/,
  )
})

test('[FMT-82] checks a deep and large document', () => {
  const doc = new Y.Doc()
  const root = doc.getXmlFragment('default')
  doc.transact(() => {
    let parent: Y.XmlFragment = root
    for (let depth = 0; depth < 190; depth += 1) {
      const quote = new Y.XmlElement('blockquote')
      parent.push([quote])
      parent = quote
    }
    parent.push([new Y.XmlElement('paragraph')])
    root.push(Array.from({ length: 100_000 }, () => new Y.XmlElement('paragraph')))
  })
  expect(findViolation(doc, 'default', presetSchema('tiptap'))).toBeNull()
  ;(root.get(100_000) as Y.XmlElement).setAttribute('class', 'x')
  expect(findViolation(doc, 'default', presetSchema('tiptap'))).toMatchObject({
    path: '/doc/paragraph[100000]/@class',
  })
})
