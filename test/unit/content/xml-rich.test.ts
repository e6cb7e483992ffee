import { expect, test } from 'vitest'
import { docOf, made, replace, richKey, storedOf, text, xmlOf } from './xml-support.ts'

test('[R19] lets comments overlap in a rich-text root that has no comments yet, and not in other roots', () => {
  const xml = '<paragraph><comment id="1">x<comment id="2">y</comment></comment></paragraph>'
  const doc = docOf(xml, richKey)
  expect(xmlOf(doc, richKey)).toBe(xml)
  expect(replace(doc, xml, richKey).changed).toBe(false)
  const single = made((root) => root.insert(0, [text(['x', { comment: { id: '0' } }])]), richKey)
  replace(single, '<comment id="1">x<comment id="2">y</comment></comment>', richKey)
  expect(xmlOf(single, richKey)).toBe('<comment id="1">x</comment><comment id="2">y</comment>')
})

test('[R20] in rich-text roots, stores the usual numbers, booleans and column widths with their types', () => {
  const numbers = { level: 2, start: 3, colspan: 4, rowspan: 5, indent: 6, order: 7, width: 640, height: 0.5 }
  const attributes = { ...numbers, previewWidth: 9, checked: false, isToggleable: true, showPreview: false }
  const xml =
    '<cell level="2" start="3" colspan="4" rowspan="5" indent="6" order="7" width="640" height="0.5" ' +
    'previewWidth="9" checked="false" isToggleable="true" showPreview="false" open="true" tight="false" ' +
    'colwidth="[120,null]" other="7"/>'
  const more = { open: true, tight: false, colwidth: [120, null], other: '7' }
  expect(storedOf(docOf(xml, richKey), richKey)).toEqual([
    { name: 'cell', attributes: { ...attributes, ...more }, children: [] },
  ])
  expect(storedOf(docOf(xml))).toMatchObject([
    { attributes: { level: '2', checked: 'false', colwidth: '[120,null]' } },
  ])
  const odd = '<cell checked="" colwidth="120" level="02" width="50%"/>'
  expect(storedOf(docOf(odd, richKey), richKey)).toMatchObject([
    { attributes: { checked: '', colwidth: '120', level: '02', width: '50%' } },
  ])
})

test('[R20] in rich-text roots, gives the attributes of marks their usual types', () => {
  const doc = docOf('<textStyle level="1" open="false" colwidth="[2]">x</textStyle>', richKey)
  const attributes = { textStyle: { level: 1, open: false, colwidth: [2] } }
  expect(storedOf(doc, richKey)).toEqual([{ text: [{ insert: 'x', attributes }] }])
})

test('[R19] treats a root that has `paragraph` elements as a rich-text root, regardless of the name of the root', () => {
  const doc = docOf('<paragraph>plain</paragraph>')
  replace(doc, '<paragraph>plain and <bold>bold</bold></paragraph><heading level="2">x</heading>')
  expect(storedOf(doc)).toMatchObject([
    {
      name: 'paragraph',
      children: [{ text: [{ insert: 'plain and ' }, { insert: 'bold', attributes: { bold: {} } }] }],
    },
    { name: 'heading', attributes: { level: 2 } },
  ])
  const other = docOf('<p>plain</p>')
  replace(other, '<p><bold>bold</bold></p>')
  expect(storedOf(other)).toMatchObject([{ children: [{ name: 'bold' }] }])
})
