import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { parseXml } from '../../../../src/core/content/xml/parse.ts'
import { serializeXml } from '../../../../src/core/content/xml/serialize.ts'
import { checkXml, replaceTree } from '../../../../src/core/content/xml/xml.ts'
import { updatesOf } from '../support.ts'
import { docOf, plainKey, refusal, replace, storedOf, xmlOf } from '../xml-support.ts'

const malformed: readonly [string, xml: string, at: string, reason: RegExp][] = [
  ['an element that is not closed', '<a>', '1:3', /unclosed tag: a/],
  ['an element that was not opened', '</a>', '1:4', /unmatched closing tag/],
  ['another element closed', '<a></b>', '1:7', /unexpected close tag/],
  ['elements that overlap', '<a><b></a></b>', '1:10', /unexpected close tag/],
  ['names that differ in case', '<A>\n</a>', '2:4', /unexpected close tag/],
  ['an end inside a tag', '<a', '1:2', /unexpected end/],
  ['an end inside an attribute', '<a b="c', '1:7', /unexpected end/],
  ['an end inside a comment', 'x<!-- y', '1:7', /unexpected end/],
  ['an end inside CDATA', '<a><![CDATA[x]]</a>', '1:19', /unclosed tag: a/],
  ['an end inside an instruction', '<?p x', '1:5', /unexpected end/],
  ['an end inside a reference', 'x &lt', '1:3', /"&" is not a known reference; write an ampersand as &amp;/],
  ['an ampersand in an unfinished comment', '<!-- a & b', '1:10', /unexpected end/],
  ['an ampersand after the mistake', '<a></b> & c', '1:7', /unexpected close tag/],
  ['a lone ampersand', '<a>\n😀 & chips</a> &amp;', '2:3', /"&" is not a known reference/],
  ['an unknown entity', '<a>\n\n  &nbsp;</a>', '3:3', /"&nbsp;" is not a known reference/],
  ['an entity that objects have', '&constructor;', '1:1', /"&constructor;" is not a known/],
  ['a reference to no character', '<a>&#0;</a>', '1:7', /malformed character entity/],
  ['a reference to half a character', '&#xD800;', '1:8', /malformed character entity/],
  ['a reference beyond Unicode', '&#x110000;', '1:10', /malformed character entity/],
  ['a reference without digits', '&#x;', '1:1', /"&#x;" is not a known reference/],
  ['a control character', 'a\u0000', '1:2', /disallowed character/],
  ['a noncharacter', '\uffff', '1:1', /disallowed character/],
  ['half a character', '<a>\n😀b\ud800</a>', '2:3', /unpaired surrogate/],
  ['the other half', '\udc00\ud800', '1:1', /unpaired surrogate/],
  ['an attribute twice', '<a b="1" b="2"/>', '1:16', /duplicate attribute: b/],
  ['an attribute without value', '<a b/>', '1:5', /attribute name/],
  ['an attribute without quotes', '<a b=c/>', '1:6', /unquoted attribute value/],
  ['attributes without space', '<a b="1"c="2"/>', '1:9', /no whitespace between attributes/],
  ['a less-than sign in an attribute', '<a b="<"/>', '1:7', /disallowed character/],
  ['a space before a name', '< a/>', '1:2', /disallowed character in tag name/],
  ['a name that starts with a digit', '<1/>', '1:2', /disallowed character in tag name/],
  ['a space in the end of a tag', '<a/ >', '1:4', /forward-slash/],
  ['the end of CDATA in text', '<a>]]></a>', '1:6', /disallowed in char data/],
  ['two hyphens in a comment', '<!-- -- -->', '1:8', /malformed comment/],
  ['a declaration that is not first', ' <?xml version="1.0"?>', '1:7', /declaration must be at the start/],
  ['a declaration inside', '<a><?xml version="1.0"?></a>', '1:9', /declaration must be at the start/],
  ['a declaration without version', '<?xml encoding="UTF-8"?><a/>', '1:1', /malformed XML declaration/],
  ['a declaration twice', '<?xml version="1.0"?>\n<?xml version="1.0"?>', '2:6', /declaration must be/],
  ['a markup declaration', '<!ELEMENT a>', '1:9', /incorrect syntax/],
  ['a DOCTYPE', '<!DOCTYPE a>\n<a/>', '1:9', /a DOCTYPE is not allowed/],
  [
    'a DOCTYPE after a declaration',
    '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY x "y">]><a/>',
    '2:9',
    /a DOCTYPE is not allowed/,
  ],
  ['a DOCTYPE in an element', '<a><!DOCTYPE a></a>', '1:12', /a DOCTYPE is not allowed/],
]

test.each(malformed)('[R16] rejects %s with the line and the column', (_name, xml, at, reason) => {
  const message = refusal(() => parseXml(xml))
  expect(message).toMatch(/^data is not well-formed XML at \d+:\d+: /)
  expect(message).toContain(` at ${at}: `)
  expect(message).toMatch(reason)
})

test('[R16] changes nothing when it rejects content', () => {
  const doc = docOf('<a>text</a>')
  const updates = updatesOf(doc, () => {
    for (const [, xml] of malformed) refusal(() => replace(doc, xml))
  })
  expect(updates).toEqual([])
  expect(serializeXml(doc, plainKey)).toBe('<a>text</a>')
})

test.each([
  ['any number of roots and top-level text', 'a<b/>c<d/>', 'a<b/>c<d/>'],
  ['nothing', '', ''],
  ['a byte order mark', '\ufeff<a/>', '<a/>'],
  ['an XML declaration', '<?xml version="1.0" encoding="UTF-8" standalone=\'yes\' ?>\r\n<a/>', '<a/>'],
  ['both', '\ufeff<?xml version="1.0"?><a/>', '<a/>'],
  ['a byte order mark further inside, which is a character', '<a>\ufeff</a>', '<a>\ufeff</a>'],
  ['the five named entities', '<a b="&quot;&apos;">&lt;&gt;&amp;</a>', '<a b="&quot;\'">&lt;&gt;&amp;</a>'],
  ['character references', '&#65;&#x42;&#x1F600;', 'AB😀'],
  ['CDATA', 'x<![CDATA[<b> & ]]]]><![CDATA[>]]>y', 'x&lt;b&gt; &amp; ]]&gt;y'],
  ['comments and instructions, dropped', 'a<!-- <x> -->b<?php echo ?>c', 'abc'],
  ['line breaks of any system', 'a\r\nb\rc\nd', 'a\nb\nc\nd'],
  ['a carriage return that is a reference', 'a&#13;b', 'a&#13;b'],
  ['white space in attributes', '<a b="1\n2\t3&#10;4"/>', '<a b="1 2 3&#10;4"/>'],
  ['prefixes as part of names', '<s:a x:b="1" xmlns:s="urn:s"/>', '<s:a x:b="1" xmlns:s="urn:s"/>'],
  ['attributes in any order', '<a z="1" b="2"/>', '<a b="2" z="1"/>'],
  ['names beyond ASCII', '<größe Ж="1"/>', '<größe Ж="1"/>'],
])('[R16] reads %s', (_name, xml, expected) => {
  expect(xmlOf(docOf(xml))).toBe(expected)
})

test('[R6] when content exceeds a limit, states the limit, the actual size and the position', () => {
  const deep = (depth: number): string => '<a>'.repeat(depth) + '</a>'.repeat(depth)
  expect(refusal(() => parseXml(deep(200)))).toBe(
    'data has too much at 1:600: elements are at most 199 deep; here it is 200',
  )
  expect(refusal(() => parseXml('<a/>'.repeat(200_001)))).toMatch(/at most 200000 nodes; here it is 200001$/)
  const wide = (count: number): string =>
    `<a ${Array.from({ length: count }, (_, index) => `b${index}=""`).join(' ')}/>`
  expect(refusal(() => parseXml(wide(257)))).toMatch(/at most 256 attributes; here it is 257$/)
  const long = 'n'.repeat(5_000)
  for (const xml of [
    deep(199),
    '<a/>\n'.repeat(200_000),
    wide(256),
    `<${long} ${long}="" _x_=""/>`,
    '<_x_/>',
  ]) {
    expect(() => parseXml(xml)).not.toThrow()
  }
})

test('[R6] rejects a text with millions of unclosed elements', () => {
  expect(refusal(() => parseXml('<a>'.repeat(3_000_000)))).toMatch(/at most 199 deep/)
})

test('[R1] rejects data that is not a string', () => {
  for (const data of [7, null, true, ['<a/>'], { a: 1 }]) {
    const doc = new Y.Doc()
    expect(refusal(() => replaceTree(doc, plainKey, checkXml(data)))).toMatch(
      /^data must be a string for type "xml"/,
    )
  }
})

test('[R14] shows an existing name __proto__ in escaped form, and changes nothing when that form is written back', () => {
  const xml = '<_x005F__proto__ _x005F__proto__="1">x</_x005F__proto__>'
  const doc = docOf(xml)
  expect(storedOf(doc)).toMatchObject([{ name: '__proto__' }])
  expect(xmlOf(doc)).toBe(xml)
})

test('[R14] accepts __proto__, constructor and toString as names', () => {
  expect(xmlOf(docOf('<__proto__ __proto__="1"/>'))).toBe('<_x005F__proto__ _x005F__proto__="1"/>')
  const xml = '<constructor constructor="1" hasOwnProperty="2"><toString/></constructor>'
  expect(xmlOf(docOf(xml))).toBe(xml)
  expect(storedOf(docOf('<a constructor="1"/>'))).toEqual([
    { name: 'a', attributes: { constructor: '1' }, children: [] },
  ])
})
