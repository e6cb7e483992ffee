import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { serializeXml } from '../../../src/core/content/xml/serialize.ts'
import { checkXml } from '../../../src/core/content/xml/xml.ts'
import { loaded, runs, updatesOf } from './support.ts'
import { element, identities, made, plainKey, replace, richKey, text, xmlOf } from './xml-support.ts'

const keys = fc.constantFrom(plainKey, richKey)

const names = fc.constantFrom('p', 'ul', 'li', 'codeBlock', 'bold', 'code', 'a:b', 'Ä')

const characters = fc.constantFrom(
  'a',
  'b ',
  ' c',
  '\n',
  '\n  ',
  '\t',
  '\r',
  '&',
  '<',
  '>',
  '"',
  ']]>',
  'the fox',
  '😀',
  '👩‍👩‍👧',
  'e\u0301',
  '漢',
  '\u0000',
)
const words = fc.array(characters, { maxLength: 6 }).map((parts) => parts.join(''))

const values = fc.oneof(
  words,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true }),
  fc.constantFrom<object>({}, { a: [1, 'x'] }, [null]),
)
const attributes = fc.dictionary(fc.constantFrom('id', 'level', 'href', 'xml:space', 'data-x', '1'), values, {
  maxKeys: 3,
})

const marks = fc.dictionary(
  fc.constantFrom('bold', 'code', 'link', 'li', 'comment--AbCd01+/', 'comment--ZZZZZZZZ'),
  fc.oneof(attributes, fc.constant(true), fc.constantFrom('red', 5)),
  { maxKeys: 3 },
)

/** Content of editors and other programs: elements, texts with marks, adjacent texts, empty texts. */
type Made =
  | { kind: 'text'; delta: [string, object][] }
  | { kind: 'element'; name: string; attributes: Record<string, unknown>; children: Made[] }

const { forest } = fc.letrec<{ forest: Made[]; node: Made }>((tie) => ({
  forest: fc.array(tie('node'), { maxLength: 4 }),
  node: fc.oneof(
    { depthSize: 'small' },
    fc.record({
      kind: fc.constant('text' as const),
      delta: fc.array(fc.tuple(words, marks), { maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant('element' as const),
      name: names,
      attributes,
      children: tie('forest'),
    }),
  ),
}))

const build = (nodes: readonly Made[]): (Y.XmlElement | Y.XmlText)[] =>
  nodes.map((node) =>
    node.kind === 'text' ? text(...node.delta) : element(node.name, build(node.children), node.attributes),
  )

/** The same without marks. */
const plain = (nodes: readonly Made[]): Made[] =>
  nodes.map((node) =>
    node.kind === 'text'
      ? { ...node, delta: node.delta.map(([insert]): [string, object] => [insert, {}]) }
      : { ...node, children: plain(node.children) },
  )

const docWith = (nodes: readonly Made[], key: string): Y.Doc =>
  made((root) => root.insert(0, build(nodes)), key)

const textsIn = (type: Y.XmlFragment): Y.XmlText[] =>
  type.toArray().flatMap((child) => {
    if (child instanceof Y.XmlText) return [child]
    return child instanceof Y.XmlElement ? textsIn(child) : []
  })

/** XML as users write it: with layout, marks and references. */
const written: fc.Arbitrary<string> = fc.letrec<{ content: string; piece: string }>((tie) => ({
  content: fc.array(tie('piece'), { maxLength: 4 }).map((pieces) => pieces.join('')),
  piece: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      'text',
      ' ',
      '\n',
      '\n  ',
      '&amp;',
      '&#10;',
      '<![CDATA[ <x> ]]>',
      '<!-- c -->',
      'a b c',
      '😀',
    ),
    fc
      .tuple(
        names,
        fc.constantFrom('', ' id="1"', ' level="2" href="/x"', ' xml:space="preserve"'),
        tie('content'),
      )
      .map(([name, attributes, content]) => `<${name}${attributes}>${content}</${name}>`),
  ),
})).content

/** A target: written XML, or the XML of a document. */
const targets = (key: string): fc.Arbitrary<string> =>
  fc.oneof(
    written,
    forest.map((nodes) => serializeXml(docWith(nodes, key), key)),
  )

const cases = keys.chain((key) =>
  fc.record({ key: fc.constant(key), before: forest, xml: targets(key), next: targets(key) }),
)

test('[R16] changes nothing when any document is read and written back', () => {
  fc.assert(
    fc.property(forest, keys, (nodes, key) => {
      const doc = docWith(nodes, key)
      const xml = serializeXml(doc, key)
      const updates = updatesOf(doc, () => expect(replace(doc, xml, key).changed).toBe(false))
      expect(updates).toEqual([])
      expect(serializeXml(doc, key)).toBe(xml)
    }),
    runs,
  )
})

test('[R3] gives every replica the target content with a single update', () => {
  fc.assert(
    fc.property(cases, ({ key, before, xml, next }) => {
      const server = docWith(before, key)
      const client = loaded(server, 3)
      client.getXmlFragment(key)
      for (const target of [xml, next]) {
        const updates = updatesOf(server, () => replace(server, target, key))
        expect(updates.length).toBeLessThanOrEqual(1)
        for (const update of updates) Y.applyUpdate(client, update)
        const read = serializeXml(server, key)
        expect(serializeXml(client, key)).toBe(read)
        expect(xmlOf(server, key)).toBe(read)
        expect(replace(server, read, key).changed).toBe(false)
      }
    }),
    runs,
  )
})

test('[R3] leaves no formatting that clients would have to clean up', () => {
  fc.assert(
    fc.property(cases, ({ key, before, xml, next }) => {
      const server = docWith(before, key)
      // Reads types now, so that untidy formatting of the author is cleaned up first.
      for (const text of textsIn(server.getXmlFragment(key))) Y.cleanupYTextFormatting(text)
      const client = loaded(server, 3)
      for (const text of textsIn(client.getXmlFragment(key))) expect(Y.cleanupYTextFormatting(text)).toBe(0)
      for (const target of [xml, next]) {
        const updates = updatesOf(server, () => replace(server, target, key))
        const ofClient = updatesOf(client, () => {
          for (const update of updates) Y.applyUpdate(client, update)
        })
        expect(ofClient.length).toBe(updates.length)
      }
    }),
    runs,
  )
})

test('[R3] creates no update if the content is the same', () => {
  const { content } = fc.letrec<{ content: string; piece: string }>((tie) => ({
    content: fc.array(tie('piece'), { maxLength: 4 }).map((pieces) => pieces.join('')),
    piece: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(
        'text',
        ' ',
        '\n',
        '&#10;',
        '<!-- c -->',
        '<bold>x</bold>',
        '<BOLD id="2">y<p/></BOLD>',
      ),
      tie('content').map((inner) => `<p id="1">${inner}</p>`),
      tie('content').map((inner) => `<ul xml:space="preserve">${inner}</ul>`),
    ),
  }))
  fc.assert(
    fc.property(forest, keys, content, (before, key, xml) => {
      const doc = docWith(before, key)
      replace(doc, xml, key)
      const updates = updatesOf(doc, () => expect(replace(doc, xml, key).changed).toBe(false))
      expect(updates).toEqual([])
    }),
    runs,
  )
})

test('[R3] turns the content of any document completely into the content of any other', () => {
  fc.assert(
    fc.property(forest, forest, (nodes, others) => {
      const xml = serializeXml(docWith(plain(nodes), plainKey), plainKey)
      const doc = docWith(plain(others), plainKey)
      replace(doc, xml)
      expect(xmlOf(doc)).toBe(xml)
    }),
    runs,
  )
})

test('[R4] merges concurrent edits of a client, and all replicas converge', () => {
  fc.assert(
    fc.property(cases, forest, fc.nat(9), fc.nat(9), ({ key, before, xml }, added, at, from) => {
      const server = docWith(before, key)
      const client = loaded(server, 3)
      const ofServer = updatesOf(server, () => replace(server, xml, key))
      const ofClient = updatesOf(client, () => {
        const root = client.getXmlFragment(key)
        root.insert(Math.min(at, root.length), build(added))
        if (root.length > 0) root.delete(from % root.length)
        for (const child of root.toArray()) {
          if (child instanceof Y.XmlText && child.length > 0) child.insert(at % (child.length + 1), 'typed')
          if (child instanceof Y.XmlElement) child.setAttribute('id', 'edited')
        }
      })
      for (const update of ofClient) Y.applyUpdate(server, update)
      for (const update of ofServer) Y.applyUpdate(client, update)
      expect(serializeXml(client, key)).toBe(serializeXml(server, key))
      expect(xmlOf(server, key)).toBe(xmlOf(client, key))
    }),
    runs,
  )
})

test('[R4] lets a client undo its own edits only', () => {
  fc.assert(
    fc.property(words, (after) => {
      const server = docWith([{ kind: 'element', name: 'p', attributes: {}, children: [] }], plainKey)
      const client = loaded(server, 3)
      const root = client.getXmlFragment(plainKey)
      const undo = new Y.UndoManager(root)
      root.insert(1, [element('mine')])
      Y.applyUpdate(server, Y.encodeStateAsUpdate(client))
      const escaped = after.replace(/[&<>\r\u0000]/g, '')
      for (const update of updatesOf(server, () => replace(server, `<p>SERVER${escaped}</p><mine/>`)))
        Y.applyUpdate(client, update, 'remote')
      undo.undo()
      expect(serializeXml(client, plainKey)).toBe(`<p>SERVER${escaped}</p>`)
      expect(undo.redoStack.length).toBe(1)
    }),
    runs,
  )
})

test('[R22] keeps the identity of all other nodes when one node is inserted, removed or edited', () => {
  fc.assert(
    fc.property(forest, fc.nat(), fc.nat(2), (nodes, pick, kind) => {
      const content = plain(nodes).map(
        (node, index): Made => ({
          kind: 'element',
          name: 'section',
          attributes: { id: `s${index}` },
          children: [{ kind: 'text', delta: [[`section ${index}`, {}]] }, node],
        }),
      )
      const doc = docWith(content, plainKey)
      const known = identities(doc)
      const sections = content.map((node) => xmlOf(docWith([node], plainKey)))
      const at = pick % (sections.length + 1)
      if (kind === 0) sections.splice(at, 0, '<section id="new">another one</section>')
      else if (kind === 1) sections.splice(at, 1)
      else sections[at] = (sections[at] ?? '').replace('>section ', '>edited section ')
      // Each section was read alone. The sections together are the target.
      const target = sections.join('')
      replace(doc, target)
      const gone = [...known.keys()].filter((id) => !identities(doc).has(id)).length
      const removed =
        kind === 1 && at < content.length ? identities(docWith([content[at] as Made], plainKey)).size : 0
      expect(gone).toBeLessThanOrEqual(removed)
    }),
    runs,
  )
})

test('[R22] keeps relative positions in unchanged text', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[a-z]{3,9}$/), { minLength: 6, maxLength: 12 }),
      fc.nat(),
      (all, pick) => {
        const at = pick % all.length
        const doc = docWith(
          [
            {
              kind: 'element',
              name: 'p',
              attributes: {},
              children: [{ kind: 'text', delta: [[all.join(' '), {}]] }],
            },
          ],
          plainKey,
        )
        const paragraph = doc.getXmlFragment(plainKey).get(0) as Y.XmlElement
        const inside = paragraph.get(0) as Y.XmlText
        const before = at === 0 ? 0 : all.slice(0, at).join(' ').length + 1
        const after = before + (all[at]?.length ?? 0) + 1
        const cursors = [0, before - 2, after, after + 2].filter(
          (index) => index >= 0 && index < inside.length && (index < before || index >= after),
        )
        const positions = cursors.map((index) => Y.createRelativePositionFromTypeIndex(inside, index))
        replace(doc, `<p>${all.toSpliced(at, 1, 'REPLACED').join(' ')}</p>`)
        const found = positions.map((position) => Y.createAbsolutePositionFromRelativePosition(position, doc))
        const shift = 'REPLACED'.length - (all[at]?.length ?? 0)
        expect(found.map((position) => position?.type)).toEqual(cursors.map(() => inside))
        expect(found.map((position) => position?.index)).toEqual(
          cursors.map((index) => (index > before ? index + shift : index)),
        )
      },
    ),
    runs,
  )
})

test('[R16] accepts any string as content, or rejects it with the position of the problem', () => {
  const bits = fc.constantFrom(
    '<',
    '>',
    '/',
    '&',
    ';',
    '"',
    '=',
    'a',
    ' ',
    '<a>',
    '</a>',
    '<a b="',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?',
    '?>',
    '&#',
    '<!DOCTYPE',
    '\ud800',
    '\u0000',
    '\n',
  )
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 12 }), (parts) => {
      try {
        checkXml(parts.join(''))
      } catch (error) {
        expect(String(error)).toMatch(/ at \d+:\d+: /)
      }
    }),
    runs,
  )
})
