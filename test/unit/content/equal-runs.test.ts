import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { replaceContent } from '../../../src/core/content/replace.ts'
import { times } from '../../support/time/full-run.ts'
import { loaded } from './support.ts'

/** A content type: its data for one line of text, and the shared text of that line in a client. */
interface Shape {
  readonly type: string
  readonly contentKey: string
  readonly data: (line: string) => unknown
  readonly text: (doc: Y.Doc) => Y.Text
}

const inElement = (doc: Y.Doc): Y.Text =>
  (doc.getXmlFragment('default').get(0) as Y.XmlElement).get(0) as Y.XmlText
const inRoot = (doc: Y.Doc): Y.Text => doc.getText('content')

const shapes: readonly Shape[] = [
  { type: 'text', contentKey: 'content', data: (line) => line, text: inRoot },
  { type: 'delta', contentKey: 'content', data: (line) => [{ insert: `${line}\n` }], text: inRoot },
  {
    type: 'xml',
    contentKey: 'default',
    data: (line) => `<paragraph>${line}</paragraph>`,
    text: inElement,
  },
  { type: 'markdown', contentKey: 'default', data: (line) => line, text: inElement },
  { type: 'html', contentKey: 'default', data: (line) => `<p>${line}</p>`, text: inElement },
  {
    type: 'prosemirror',
    contentKey: 'default',
    data: (line) => ({
      type: 'doc',
      content: [{ type: 'paragraph', content: [{ type: 'text', text: line }] }],
    }),
    text: inElement,
  },
  {
    type: 'xmltext',
    contentKey: 'root',
    data: (line) => ({
      delta: [{ text: { attributes: { type: 'paragraph' }, delta: [{ insert: line }] } }],
    }),
    text: (doc) => (doc.get('root', Y.XmlText).toDelta() as { insert: Y.Text }[])[0]?.insert as Y.Text,
  },
]

const cases = shapes.map((shape) => [shape.type, shape] as const)

/** Runs of one to ten characters, each with a character of a word. */
const run = fc
  .array(fc.constantFrom('a', 'é', 'ß', '7', '漢', 'ก', '😀', ' ', '-', '.', '€', 'Ж'), {
    minLength: 1,
    maxLength: 10,
  })
  .map((parts) => parts.join('').trim().replace(/ +/g, ' '))
  .filter((text) => text.length >= 1 && text.length <= 10 && /[\p{L}\p{N}]/u.test(text))
/** Changed words, whose characters do not occur in runs. Some touch the run. */
const change = fc.tuple(fc.constantFrom('old', 'x', 'two words'), fc.constantFrom('NEW', 'YY', 'MUCH NEW'))
const line = fc.record({ run, before: change, after: change }).map((each) => ({
  ...each,
  source: `${each.before[0]} ${each.run} ${each.after[0]}`,
  target: `${each.before[1]} ${each.run} ${each.after[1]}`,
}))
const runs = { numRuns: times(60, 2_000) }

function authored({ type, contentKey, data }: Shape, text: string): Y.Doc {
  const author = new Y.Doc()
  author.clientID = 1
  replaceContent(author, { type, contentKey, data: data(text) })
  return author
}

const replaced = (doc: Y.Doc, { type, contentKey, data }: Shape, text: string): Y.Doc => {
  const server = loaded(doc, 2)
  replaceContent(server, { type, contentKey, data: data(text) })
  return server
}

const merge = (into: Y.Doc, from: Y.Doc): void => Y.applyUpdate(into, Y.encodeStateAsUpdate(from), 'remote')

/** Boundaries of the characters of a run, in UTF-16 units. */
const boundaries = (text: string): number[] => {
  const found = [0]
  for (const { segment } of new Intl.Segmenter().segment(text))
    found.push((found.at(-1) as number) + segment.length)
  return found
}

const shown = (text: Y.Text): string => text.toJSON().replace(/\n$/, '')

test.each(cases)('[R23] keeps each cursor in unchanged text between two changes (%s)', (_, shape) => {
  fc.assert(
    fc.property(line, (each) => {
      const client = loaded(authored(shape, each.source), 3)
      const start = each.before[0].length + 1
      const cursors = boundaries(each.run).map((at) =>
        Y.createRelativePositionFromTypeIndex(shape.text(client), start + at, -1),
      )
      merge(client, replaced(client, shape, each.target))
      expect(shown(shape.text(client))).toBe(each.target)
      const moved = each.before[1].length + 1
      boundaries(each.run).forEach((at, index) => {
        if (index === 0) return
        const place = Y.createAbsolutePositionFromRelativePosition(
          cursors[index] as Y.RelativePosition,
          client,
        )
        expect(place?.index).toBe(moved + at)
      })
    }),
    runs,
  )
})

test.each(cases)('[R23] keeps a word rather than the spaces between changed words (%s)', (_, shape) => {
  for (const [source, target] of [
    ['one two stays four', 'one stays three four'],
    ['1 22 stays', 'stays 333 4'],
    ['a, bb, stays', 'stays, ccc, d'],
  ] as const) {
    const client = loaded(authored(shape, source), 3)
    const place = (line: string): number => line.indexOf('stays') + 2
    const cursor = Y.createRelativePositionFromTypeIndex(shape.text(client), place(source))
    merge(client, replaced(client, shape, target))
    expect(shown(shape.text(client))).toBe(target)
    expect(Y.createAbsolutePositionFromRelativePosition(cursor, client)?.index).toBe(place(target))
  }
})

test.each(cases)('[R23] keeps typing in unchanged text between two changes in its place (%s)', (_, shape) => {
  fc.assert(
    fc.property(line, fc.nat(), (each, seed) => {
      const client = loaded(authored(shape, each.source), 3)
      const server = replaced(client, shape, each.target)
      const inside = boundaries(each.run).slice(1, -1)
      const at = inside[seed % inside.length]
      if (at === undefined) return
      shape.text(client).insert(each.before[0].length + 1 + at, 'typed')
      merge(client, server)
      const typed = `${each.run.slice(0, at)}typed${each.run.slice(at)}`
      expect(shown(shape.text(client))).toBe(`${each.before[1]} ${typed} ${each.after[1]}`)
    }),
    runs,
  )
})

test.each(cases)(
  '[R23] returns deleted text between two changes to its place by an undo (%s)',
  (_, shape) => {
    fc.assert(
      fc.property(line, fc.nat(), fc.nat(), (each, from, to) => {
        const client = loaded(authored(shape, each.source), 3)
        const server = replaced(client, shape, each.target)
        const ends = boundaries(each.run)
        const [a, b] = [ends[from % ends.length] as number, ends[to % ends.length] as number]
        const text = shape.text(client)
        const undo = new Y.UndoManager(text)
        text.delete(each.before[0].length + 1 + Math.min(a, b), Math.abs(a - b))
        merge(client, server)
        undo.undo()
        expect(shown(shape.text(client))).toBe(each.target)
      }),
      runs,
    )
  },
)
