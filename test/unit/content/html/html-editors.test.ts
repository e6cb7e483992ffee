import * as fc from 'fast-check'
import { Schema } from 'prosemirror-model'
import { expect, test } from 'vitest'
import { runs, updatesOf } from '../support.ts'
import {
  basicSchema,
  correctionsOf,
  documents,
  hasEmptiedText,
  shown,
  stored,
  tiptapSchema,
} from '../xml-editors.ts'
import { readHtml, writeHtml, written } from './html-support.ts'

const fewer = { numRuns: Math.ceil(runs.numRuns / 4) }

const schemas = [
  ['basic', basicSchema, 'prosemirror'],
  ['Tiptap', tiptapSchema, 'default'],
] as const

test.each(schemas)(
  '[FMT-63] changes nothing when %s documents are read and written back',
  (_name, schema, key) => {
    fc.assert(
      fc.property(documents(schema), (node) => {
        const doc = stored(node, key)
        const html = readHtml(doc, key)
        expect(updatesOf(doc, () => expect(writeHtml(doc, html, key).changed).toBe(false))).toEqual([])
      }),
      fewer,
    )
  },
)

/** Removes the placeholders, which stand for nodes of another document. */
const withoutCustom = (html: string): string =>
  html.replace(/<(div|span) data-weft-(?:block|inline)="[^"]*">[^<]*<\/\1>/g, '')

test.each(schemas)(
  '[FMT-61] shows the written HTML, and a second write changes nothing: %s documents',
  (_name, schema, key) => {
    fc.assert(
      fc.property(documents(schema), documents(schema), (before, after) => {
        const html = withoutCustom(readHtml(stored(after, key), key))
        const doc = stored(before, key)
        writeHtml(doc, html, key)
        const normal = readHtml(doc, key)
        expect(updatesOf(doc, () => writeHtml(doc, `${normal}\n`, key))).toEqual([])
      }),
      fewer,
    )
  },
)

/** Names and nesting of Tiptap's StarterKit, and of its extensions for images, tasks and tables. */
const starterKit = new Schema({
  nodes: {
    doc: { content: 'block+' },
    text: { group: 'inline' },
    paragraph: { content: 'inline*', group: 'block' },
    heading: { content: 'inline*', group: 'block', attrs: { level: { default: 1 } } },
    blockquote: { content: 'block+', group: 'block' },
    codeBlock: { content: 'text*', group: 'block', marks: '', attrs: { language: { default: null } } },
    bulletList: { content: 'listItem+', group: 'block' },
    orderedList: {
      content: 'listItem+',
      group: 'block',
      attrs: { start: { default: 1 }, type: { default: null } },
    },
    listItem: { content: 'paragraph block*' },
    taskList: { content: 'taskItem+', group: 'block' },
    taskItem: { content: 'paragraph block*', attrs: { checked: { default: false } } },
    horizontalRule: { group: 'block' },
    hardBreak: { inline: true, group: 'inline' },
    image: {
      group: 'block',
      attrs: { src: { default: null }, alt: { default: null }, title: { default: null } },
    },
    table: { content: 'tableRow+', group: 'block' },
    tableRow: { content: '(tableCell | tableHeader)*' },
    ...Object.fromEntries(
      ['tableCell', 'tableHeader'].map((name) => [
        name,
        {
          content: 'block+',
          attrs: { colspan: { default: 1 }, rowspan: { default: 1 }, colwidth: { default: null } },
        },
      ]),
    ),
  },
  marks: {
    link: { attrs: { href: { default: null } } },
    bold: {},
    italic: {},
    strike: {},
    code: {},
  },
})

const words = fc.constantFrom('word', ' ', 'a &lt; b', '😀', '\n', 'x  y', '<br>')
const tagged = (tags: readonly string[], content: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom(...tags), content).map(([tag, inner]) => `<${tag}>${inner}</${tag.split(' ')[0]}>`)
const joined = (part: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''))

const { flow } = fc.letrec<{ flow: string; block: string; inline: string }>((tie) => ({
  inline: fc.oneof(
    { weight: 3, arbitrary: words },
    { weight: 1, arbitrary: tagged(['b', 'em', 's', 'span', 'a href="/x"', 'u'], joined(tie('inline'))) },
    { weight: 1, arbitrary: tagged(['code'], fc.constant('c')) },
  ),
  block: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tagged(['p', 'h1', 'h3', 'div'], joined(tie('inline'))),
    tagged(['pre'], words),
    fc.constantFrom('<hr>', 'a <img src="/i.png" alt="i"> b'),
    tagged(['blockquote', 'section'], tie('flow')),
    tagged(['ul', 'ol', 'ol start="4"'], joined(tagged(['li'], tie('flow')))),
    tagged(['ul'], joined(tie('flow').map((inner) => `<li><input type="checkbox">${inner}</li>`))),
    tagged(['table'], joined(tagged(['tr'], joined(tagged(['td', 'th', 'td colspan="2"'], tie('flow')))))),
  ),
  flow: joined(fc.oneof(tie('block'), tie('inline'))),
}))

const editors = [
  ['basic', basicSchema, 'prosemirror'],
  ['Tiptap', starterKit, 'default'],
] as const

test.each(editors)(
  '[FMT-66] writes content that is valid in the editor, which corrects nothing: %s',
  (_name, schema, key) => {
    fc.assert(
      fc.property(flow, flow, (before, after) => {
        const doc = written(`<p>start</p>${before}`, key)
        writeHtml(doc, `<p>start</p>${after}`, key)
        const content = shown(doc, schema, key)
        content.check()
        // The binding always writes texts of a certain form when a neighbor differs.
        if (correctionsOf(stored(content, key), content, key).length === 0 && !hasEmptiedText(doc.get(key)))
          expect(correctionsOf(doc, content, key)).toEqual([])
        expect(shown(written(`<p>start</p>${after}`, key), schema, key).toJSON()).toEqual(content.toJSON())
      }),
      { ...fewer, examples: [['<blockquote></blockquote>', '<blockquote><h3></h3></blockquote>']] },
    )
  },
)
