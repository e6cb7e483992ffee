import { expect, it } from 'vitest'
import {
  contentToText,
  prettyXml,
  textToContent,
  toComparableLines,
} from '../../../src/console/documents/content/content-text.ts'
import { diffTexts } from '../../../src/console/documents/diff/text-diff.ts'

it('[CON-24] converts content of each type to editable text, and back to the same content', () => {
  expect(contentToText({ type: 'text', data: 'a\nb' })).toBe('a\nb')
  expect(contentToText({ type: 'map', data: { a: [1] } })).toBe('{\n  "a": [\n    1\n  ]\n}')
  for (const content of [
    { type: 'text', data: '{"no": "json"}' },
    { type: 'xml', data: '<p>a</p>' },
    { type: 'map', data: { a: [1, { b: null }] } },
    { type: 'array', data: [] },
  ])
    expect(textToContent(content.type, contentToText(content))).toEqual(content.data)
  expect(() => textToContent('map', '{')).toThrow(SyntaxError)
})

it('[CON-24] breaks XML into lines for a comparison', () => {
  expect(prettyXml('<p>a<b x="1">c</b><br/></p><p/>')).toBe(
    '<p>\n  a\n  <b x="1">\n    c\n  </b>\n  <br/>\n</p>\n<p/>',
  )
  expect(toComparableLines({ type: 'xml', data: '<p>a</p>' })).toBe('<p>\n  a\n</p>\n')
})

it('[CON-24] when an element is appended to XML, the comparison keeps the earlier lines unchanged', () => {
  const xml = (data: string) => toComparableLines({ type: 'xml', data })
  expect(diffTexts(xml('<p>a</p>'), xml('<p>a</p><p>b</p>'))).toEqual([
    { kind: 'same', text: '<p>\n  a\n</p>\n' },
    { kind: 'added', text: '<p>\n  b\n</p>\n' },
  ])
})
