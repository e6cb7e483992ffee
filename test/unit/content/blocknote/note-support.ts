import * as fc from 'fast-check'
import type * as Y from 'yjs'
import { readRootAs } from '../../../../src/core/content/read-document.ts'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import type { ReplacementResult } from '../../../../src/core/content/replacement-result.ts'
import { loaded } from '../support.ts'
import { docOf, xmlOf } from '../xml-support.ts'

/** The root of BlockNote. */
export const noteKey = 'document-store'

export type TextFormat = 'markdown' | 'html'

/** A document with these containers, in the form of BlockNote. */
export const noteOf = (...containers: string[]): Y.Doc =>
  docOf(`<blockGroup>${containers.join('')}</blockGroup>`, noteKey)

export const container = (id: string, content: string, ...nested: string[]): string =>
  `<blockContainer id="${id}">${content}${nested.length === 0 ? '' : `<blockGroup>${nested.join('')}</blockGroup>`}</blockContainer>`

export const readNote = (doc: Y.Doc, format: TextFormat = 'markdown'): string =>
  readRootAs(loaded(doc), format, noteKey).data as string

export const writeNote = (doc: Y.Doc, data: string, type: TextFormat = 'markdown'): ReplacementResult =>
  replaceContent(doc, { type, contentKey: noteKey, data })

/** The stored XML. Ids that the server has made are `new`, and attributes with their defaults are left out. */
export const shownNote = (doc: Y.Doc): string =>
  xmlOf(doc, noteKey)
    .replaceAll(/ id="[0-9a-f-]{36}"/g, ' id="new"')
    .replaceAll(
      / (?:(?:backgroundColor|textColor)="default"|textAlignment="left"|(?:colspan|rowspan)="1"|isToggleable="false"|showPreview="true"|(?:name|caption)="")/g,
      '',
    )
    .replace(/^<blockGroup>(.*)<\/blockGroup>$/, '$1')

/** Ids of the containers, in the order of the document. */
export const idsIn = (doc: Y.Doc): string[] =>
  [...xmlOf(doc, noteKey).matchAll(/<blockContainer id="([^"]*)"/g)].map(([, id]) => id as string)

const words = fc
  .array(
    fc.constantFrom(
      'word',
      'two words',
      '*',
      '_',
      '# a',
      '1. b',
      '- c',
      '`',
      '<b>',
      '😀',
      '&',
      '[x](y)',
      '|',
      '  ',
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((parts) => parts.join(' ').replaceAll('&', '&amp;').replaceAll('<', '&lt;'))

const run = fc.oneof(
  { weight: 4, arbitrary: words },
  words.map((text) => `<bold>${text}</bold>`),
  words.map((text) => `<italic><textColor stringValue="red">${text}</textColor></italic>`),
  words.map((text) => `<underline>${text}</underline>`),
  words.map((text) => `<link href="https://example.com/">${text}</link>`),
  words.map((text) => `<code>${text}</code>`),
  fc.constant('<hardBreak/>'),
)

const line = (runs: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(runs, { maxLength: 3 }).map((parts) => parts.join(''))

const colors = fc.constantFrom('', ' textColor="red"', ' backgroundColor="blue" textColor="default"')
const styles = fc.tuple(colors, fc.constantFrom('', ' textAlignment="center"')).map((parts) => parts.join(''))

const block = (name: string, content: fc.Arbitrary<string>, more: fc.Arbitrary<string> = fc.constant('')) =>
  fc.tuple(styles, more, content).map(([style, own, inner]) => `<${name}${own}${style}>${inner}</${name}>`)

const table = fc
  .tuple(
    fc.boolean(),
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: 1, max: 3 }),
    fc.array(line(words), { minLength: 9, maxLength: 9 }),
  )
  .map(([hasHeader, rows, columns, lines]) => {
    const cell = (row: number, column: number): string => {
      const name = hasHeader && row === 0 ? 'tableHeader' : 'tableCell'
      return `<${name} backgroundColor="red" colspan="1" rowspan="1"><tableParagraph>${lines[row * 3 + column]}</tableParagraph></${name}>`
    }
    const numbers = (count: number): number[] => [...Array(count).keys()]
    return `<table>${numbers(rows)
      .map(
        (row) =>
          `<tableRow>${numbers(columns)
            .map((column) => cell(row, column))
            .join('')}</tableRow>`,
      )
      .join('')}</table>`
  })

/** Content of blocks. `custom` adds nodes that text formats cannot represent. */
const contents = (custom: boolean): fc.Arbitrary<string> => {
  const text = line(
    custom ? fc.oneof({ weight: 8, arbitrary: run }, fc.constant('<mention user="a"/>')) : run,
  )
  return fc.oneof(
    { weight: 3, arbitrary: block('paragraph', text) },
    block(
      'heading',
      text,
      fc.constantFrom('1', '3', '6').map((level) => ` level="${level}"`),
    ),
    { weight: 2, arbitrary: block('bulletListItem', text) },
    { weight: 2, arbitrary: block('numberedListItem', text, fc.constantFrom('', '', ' start="3"')) },
    block('checkListItem', text, fc.constantFrom(' checked="true"', ' checked="false"')),
    block('toggleListItem', text),
    fc.tuple(colors, text).map(([style, inner]) => `<quote${style}>${inner}</quote>`),
    fc
      .tuple(fc.constantFrom('text', 'js'), words)
      .map(([name, code]) => `<codeBlock language="${name}">${code}\n${code}</codeBlock>`),
    fc
      .constantFrom('', 'a name')
      .map((name) => `<image caption="c" name="${name}" previewWidth="80" url="/i.png"/>`),
    fc.constant('<divider/>'),
    table,
    ...(custom ? [fc.constant('<video url="/v"/>'), fc.constant('<alert type="x">careful</alert>')] : []),
  )
}

interface Part {
  readonly content: string
  readonly nested: readonly Part[]
}

/** The XML of random documents of BlockNote, at most four blocks deep. */
export const notes = (custom: boolean): fc.Arbitrary<string> => {
  const content = contents(custom)
  const level = (depth: number): fc.Arbitrary<Part> =>
    fc.record({
      content,
      nested:
        depth === 0
          ? fc.constant([])
          : fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(level(depth - 1), { maxLength: 3 })),
    })
  return fc.array(level(3), { minLength: 1, maxLength: 5 }).map((parts) => {
    let ids = 0
    const made = (part: Part): string => container(`b${ids++}`, part.content, ...part.nested.map(made))
    return parts.map(made).join('')
  })
}
