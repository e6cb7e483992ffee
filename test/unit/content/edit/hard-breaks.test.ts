import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { readRootAs } from '../../../../src/core/content/read-document.ts'
import { checkChange } from '../../../../src/core/content/root-change.ts'

const contentKey = 'default'

/** Returns XML after one edit, with the preset of Tiptap or without a schema. */
function edited(xml: string, edit: object, preset: 'tiptap' | null = null): string {
  const doc = new Y.Doc()
  checkChange({ type: 'xml', contentKey, data: xml }).apply(doc)
  checkChange({
    contentKey,
    edits: [edit],
    ...(preset !== null && { schema: { name: preset, spec: null } }),
  }).apply(doc)
  return readRootAs(doc, 'xml', contentKey).data as string
}

const replace = (find: string, text: string): object => ({ replace: { find, with: text, format: 'text' } })

test.each([
  ['x\ny', '<paragraph>one x<hardBreak/>y three</paragraph>'],
  ['x\r\ny', '<paragraph>one x<hardBreak/>y three</paragraph>'],
  ['x\n', '<paragraph>one x<hardBreak/> three</paragraph>'],
  ['\n\n', '<paragraph>one <hardBreak/><hardBreak/> three</paragraph>'],
  ['a\nb\nc', '<paragraph>one a<hardBreak/>b<hardBreak/>c three</paragraph>'],
])('[FMT-156] stores the line breaks of %j as elements when the schema has them', (text, wanted) => {
  expect(edited('<paragraph>one two three</paragraph>', replace('two', text), 'tiptap')).toBe(wanted)
})

test('[FMT-156] stores line breaks as elements when the document has some, otherwise as characters', () => {
  const insert = { insert: { after: 'two', content: ' a\nb', format: 'text' } }
  expect(edited('<paragraph>one two</paragraph><paragraph>x<hardBreak/>y</paragraph>', insert)).toBe(
    '<paragraph>one two a<hardBreak/>b</paragraph><paragraph>x<hardBreak/>y</paragraph>',
  )
  expect(edited('<paragraph>one two</paragraph>', insert)).toBe('<paragraph>one two a\nb</paragraph>')
})

test('[FMT-156] keeps the formatting of the text around a line break', () => {
  expect(
    edited('<paragraph>a <bold>one two three</bold> b</paragraph>', replace('two', 'x\ny'), 'tiptap'),
  ).toBe('<paragraph>a <bold>one x</bold><hardBreak/><bold>y three</bold> b</paragraph>')
})

test('[FMT-156] keeps line breaks of code as characters', () => {
  expect(edited('<codeBlock>one two</codeBlock>', replace('two', 'x\ny'), 'tiptap')).toBe(
    '<codeBlock>one x\ny</codeBlock>',
  )
  const twoBlocks = '<codeBlock>one two</codeBlock><paragraph>x<hardBreak/>y</paragraph>'
  expect(edited(twoBlocks, replace('two', 'x\nz'))).toBe(twoBlocks.replace('two', 'x\nz'))
})

test('[FMT-156] keeps line breaks that the text had before', () => {
  expect(edited('<paragraph>one\ntwo three</paragraph>', replace('three', 'a\nb'), 'tiptap')).toBe(
    '<paragraph>one\ntwo a<hardBreak/>b</paragraph>',
  )
})
