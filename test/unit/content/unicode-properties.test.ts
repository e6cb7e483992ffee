import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { readRootAs } from '../../../src/core/content/read-document.ts'
import { replaceContent } from '../../../src/core/content/replace.ts'
import { times } from '../../support/time/full-run.ts'
import { loaded, updatesOf } from './support.ts'

const contentKey = 'default'
type Node = { readonly type: string; readonly [member: string]: unknown }

/** Any character that XML and HTML can store, except white space that they collapse. */
const anyCharacter = fc
  .integer({ min: 0x21, max: 0x10ffff })
  .filter(
    (code) => (code < 0x7f || code > 0x9f) && (code < 0xd800 || code > 0xdfff) && (code & 0xfffe) !== 0xfffe,
  )
  .map((code) => String.fromCodePoint(code))
/** Syntax of Markdown, and characters that decide whether a mark begins or ends next to them. */
const likely = fc.constantFrom(
  ...[
    '*',
    '_',
    '~',
    '`',
    '[',
    ']',
    '(',
    ')',
    '<',
    '>',
    '&',
    '\\',
    '!',
    '#',
    '+',
    '-',
    '=',
    '|',
    ':',
    '.',
  ].concat(
    [
      '@',
      '/',
      '"',
      "'",
      '1',
      'a',
      'Z',
      '🎉',
      '👍🏽',
      '👩‍👩‍👧',
      '𝒳',
      '𐄀',
      '𐐷',
      '“',
      '—',
      '€',
      '漢',
      'e\u0301',
      '\u00a0',
      '\u2028',
    ],
    [
      '\ufeff',
      '\u3000',
      '\u200b',
      'http://a.b',
      'www.a.b',
      'a@b.c',
      '~~',
      '**',
      '&amp;',
      '<b>',
      '1. ',
      '- ',
      '# ',
      ' ',
    ],
  ),
)
const words = fc
  .array(fc.oneof(anyCharacter, likely), { minLength: 1, maxLength: 6 })
  .map((parts) =>
    parts
      .join('')
      .replace(/^ +| +$/g, '')
      .replace(/ +/g, ' '),
  )
  .filter((text) => text !== '')

const mark = fc.oneof(
  fc.constantFrom<Node>({ type: 'bold' }, { type: 'italic' }, { type: 'strike' }),
  fc
    .constantFrom('http://a.b', '/a b', 'x(y)<z>', 'https://a.b/ü?q=*_', '<x>', 'a\\b', '#')
    .map((href): Node => ({ type: 'link', attrs: { href } })),
)
const run = fc
  .record({
    text: words,
    marks: fc.oneof(
      fc.constant([]),
      fc.uniqueArray(mark, { maxLength: 3, selector: ({ type }) => type }),
      fc.constant([{ type: 'code' }]),
    ),
  })
  .map(({ text, marks }): Node => ({ type: 'text', text, ...(marks.length > 0 && { marks }) }))
const line = fc.array(fc.oneof({ weight: 5, arbitrary: run }, fc.constant<Node>({ type: 'hardBreak' })), {
  minLength: 1,
  maxLength: 5,
})

const paragraph = line.map((content): Node => ({ type: 'paragraph', content }))
const item = (children: fc.Arbitrary<Node[]>) =>
  fc
    .tuple(paragraph, children)
    .map(([first, rest]): Node => ({ type: 'listItem', content: [first, ...rest] }))
const { block } = fc.letrec<{ block: Node; blocks: Node[] }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'blocks' },
    paragraph,
    fc
      .tuple(fc.integer({ min: 1, max: 6 }), line)
      .map(([level, content]): Node => ({ type: 'heading', attrs: { level }, content })),
    fc.tuple(fc.constantFrom('js', 'a b', '`', '~x', 'c++'), words).map(
      ([language, text]): Node => ({
        type: 'codeBlock',
        attrs: { language },
        content: [{ type: 'text', text }],
      }),
    ),
    fc.constant<Node>({ type: 'horizontalRule' }),
    fc
      .tuple(words, words, words)
      .map(([src, alt, title]): Node => ({ type: 'image', attrs: { src: `/${src}`, alt, title } })),
    fc.array(fc.tuple(fc.boolean(), paragraph), { minLength: 1, maxLength: 3 }).map(
      (items): Node => ({
        type: 'taskList',
        content: items.map(([checked, first]) => ({
          type: 'taskItem',
          attrs: { checked },
          content: [first],
        })),
      }),
    ),
    fc.tuple(line, line).map(
      ([head, cell]): Node => ({
        type: 'table',
        content: [
          ['tableHeader', head],
          ['tableCell', cell],
        ].map(([type, content]) => ({
          type: 'tableRow',
          content: [
            {
              type: type as string,
              attrs: { colspan: 1, rowspan: 1 },
              content: [{ type: 'paragraph', content }],
            },
          ],
        })),
      }),
    ),
    tie('blocks').map((content): Node => ({ type: 'blockquote', content })),
    fc
      .array(item(tie('blocks')), { minLength: 1, maxLength: 3 })
      .map((content): Node => ({ type: 'bulletList', content })),
    fc
      .array(item(tie('blocks')), { minLength: 1, maxLength: 3 })
      .map((content): Node => ({ type: 'orderedList', attrs: { start: 3 }, content })),
  ),
  blocks: fc.array(tie('block'), { minLength: 1, maxLength: 3 }),
}))
const trees = fc.array(block, { minLength: 1, maxLength: 3 })

function docWith(type: string, data: unknown): Y.Doc {
  const doc = new Y.Doc()
  replaceContent(doc, { type, contentKey, data })
  return loaded(doc)
}

const read = (doc: Y.Doc, type: string): unknown => readRootAs(doc, type, contentKey).data

/** Texts with white space at any place. */
const spacedText = fc
  .array(fc.constantFrom(' ', '  ', '\t', '\u00a0', 'a', 'b.', '*'), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join(''))
const spacedRun = fc
  .record({ text: spacedText, marks: fc.constantFrom([], [], [{ type: 'bold' }], [{ type: 'code' }]) })
  .map(({ text, marks }): Node => ({ type: 'text', text, ...(marks.length > 0 && { marks }) }))
const spacedLine = fc.array(
  fc.oneof({ weight: 5, arbitrary: spacedRun }, fc.constant<Node>({ type: 'hardBreak' })),
  { minLength: 1, maxLength: 3 },
)
const cellOf = (content: unknown): Node => ({
  type: 'tableHeader',
  attrs: { colspan: 1, rowspan: 1 },
  content: [{ type: 'paragraph', content }],
})
const spacedBlock = fc.oneof(
  spacedLine.map((content): Node => ({ type: 'paragraph', content })),
  spacedLine.map((content): Node => ({ type: 'heading', attrs: { level: 2 }, content })),
  spacedLine.map(
    (content): Node => ({
      type: 'bulletList',
      content: [{ type: 'listItem', content: [{ type: 'paragraph', content }] }],
    }),
  ),
  spacedLine.map(
    (content): Node => ({ type: 'table', content: [{ type: 'tableRow', content: [cellOf(content)] }] }),
  ),
)

/** Returns the text of a node with its line breaks. Markdown has no formatting at spaces. */
const textOf = (node: { text?: string; type: string; content?: never[] }): string =>
  node.text ?? (node.type === 'hardBreak' ? '\n' : (node.content ?? []).map(textOf).join(''))

test('[FMT-190] stores white space at any place again as the same text in Markdown', () => {
  fc.assert(
    fc.property(spacedBlock, (block) => {
      const doc = docWith('prosemirror', { type: 'doc', content: [block] })
      const stored = docWith('markdown', read(doc, 'markdown'))
      expect(textOf(read(stored, 'prosemirror') as never)).toBe(textOf(read(doc, 'prosemirror') as never))
    }),
    { numRuns: times(300, 10_000) },
  )
})

test('[FMT-190] stores white space at any place again as the same tree in HTML', () => {
  fc.assert(
    fc.property(spacedBlock, (block) => {
      const doc = docWith('prosemirror', { type: 'doc', content: [block] })
      const stored = docWith('html', read(doc, 'html'))
      expect(read(stored, 'prosemirror')).toEqual(read(doc, 'prosemirror'))
    }),
    { numRuns: times(300, 10_000) },
  )
})

describe.each(['markdown', 'html', 'xml', 'prosemirror'])('%s', (type) => {
  test('[FMT-190] stores a random tree with random Unicode again as the same tree', () => {
    fc.assert(
      fc.property(trees, (content) => {
        const doc = docWith('prosemirror', { type: 'doc', content })
        const data = read(doc, type)
        expect(read(docWith(type, data), 'prosemirror')).toEqual(read(doc, 'prosemirror'))
        expect(updatesOf(doc, () => replaceContent(doc, { type, contentKey, data }))).toEqual([])
      }),
      { numRuns: times(300, 10_000) },
    )
  })
})
