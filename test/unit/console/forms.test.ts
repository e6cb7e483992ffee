import { expect, it } from 'vitest'
import { comparable, parsed, prettyXml, written } from '../../../src/console/documents/forms.ts'

it('[CON-24] content is edited in the form of its type', () => {
  expect(written({ type: 'text', data: 'a\nb' })).toBe('a\nb')
  expect(written({ type: 'map', data: { a: [1] } })).toBe('{\n  "a": [\n    1\n  ]\n}')
  for (const content of [
    { type: 'text', data: '{"no": "json"}' },
    { type: 'xml', data: '<p>a</p>' },
    { type: 'map', data: { a: [1, { b: null }] } },
    { type: 'array', data: [] },
  ])
    expect(parsed(content.type, written(content))).toEqual(content.data)
  expect(() => parsed('map', '{')).toThrow(SyntaxError)
})

it('[CON-24] XML is compared in lines', () => {
  expect(prettyXml('<p>a<b x="1">c</b><br/></p><p/>')).toBe(
    '<p>\n  a\n  <b x="1">\n    c\n  </b>\n  <br/>\n</p>\n<p/>',
  )
  expect(comparable({ type: 'xml', data: '<p>a</p>' })).toBe('<p>\n  a\n</p>')
})
