import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { serializeXml } from '../../../src/core/content/xml/serialize.ts'
import { loaded, updatesOf } from './support.ts'
import {
  docOf,
  element,
  identities,
  made,
  plainKey,
  replace,
  richKey,
  storedOf,
  text,
  xmlOf,
} from './xml-support.ts'

/** The document after a replacement of `before` by `after`. */
function changed(before: string, after: string, key = plainKey) {
  const doc = docOf(before, key)
  const known = identities(doc, key)
  const updates = updatesOf(doc, () => replace(doc, after, key))
  const ids = identities(doc, key)
  const kept = [...ids].filter(([id]) => known.has(id)).map(([, name]) => name)
  const lost = [...known].filter(([id]) => !ids.has(id)).map(([, name]) => name)
  const added = [...ids].filter(([id]) => !known.has(id)).map(([, name]) => name)
  return { doc, updates, kept, lost, added, xml: xmlOf(doc, key) }
}

test.each([
  ['between elements', '<ul>\n  <li>a</li>\n  <li>b</li>\n</ul>\n', '<ul><li>a</li><li>b</li></ul>'],
  ['around top-level elements', '\n<a/>\n\n<b/>\n', '<a/><b/>'],
  ['around a comment', '<a>\n<!-- c -->\n<b/></a>', '<a><b/></a>'],
  ['a document of white space only', ' \n\t\n', ''],
  ['not without a line break', '<a> <b/> </a>', '<a> <b/> </a>'],
  ['not next to other text', '<a>\n  x\n  <b/>\n</a>', '<a>\n  x\n  <b/>\n</a>'],
  ['not next to a blank', '<a>\n<b/> <b/></a>', '<a>\n<b/> <b/></a>'],
  ['not without an element', '<a>\n</a>', '<a>\n</a>'],
  ['not in CDATA', '<a><![CDATA[\n]]><b/></a>', '<a><![CDATA[]]>\n<b/></a>'],
  [
    'not where space is preserved',
    '<a xml:space="preserve">\n<b/></a>',
    '<a xml:space="preserve">\n<b/></a>',
  ],
  [
    'again where it is not preserved any more',
    '<a xml:space="preserve"><b xml:space="default">\n<c/>\n</b>\n<d>\n<e/></d></a>',
    '<a xml:space="preserve"><b xml:space="default"><c/></b>\n<d>\n<e/></d></a>',
  ],
])('[R17] ignores white space that only lays out the source: %s', (_name, xml, expected) => {
  const doc = docOf(xml)
  expect(xmlOf(doc)).toBe(expected)
  expect(replace(doc, expected).changed).toBe(false)
  expect(replace(doc, xml).changed).toBe(false)
})

test('[R17] keeps white space next to a mark as text', () => {
  const xml = '<paragraph><bold>a</bold>\n<hardBreak/>\n</paragraph>'
  expect(xmlOf(docOf(xml, richKey), richKey)).toBe(xml)
})

test('[R17] keeps line breaks that the document contains between elements', () => {
  const doc = made((root) => {
    root.insert(0, [text(['\n']), element('a', [text(['\n  ']), element('b'), text(['\r\n'])]), text(['\n'])])
  })
  const xml = serializeXml(doc, plainKey)
  expect(xml).toBe('<![CDATA[]]>\n<a><![CDATA[]]>\n  <b/>&#13;\n</a>\n')
  expect(replace(doc, xml).changed).toBe(false)
  expect(xmlOf(docOf(xml))).toBe(xml)
})

test('[R18] when a name differs only in case from the one spelling in the document, uses the spelling of the document', () => {
  const doc = docOf('<bulletList><listItem/></bulletList>')
  expect(replace(doc, '<bulletlist><LISTITEM/></bulletlist>').changed).toBe(false)
  replace(doc, '<bulletlist><listitem/><listitem>x</listitem></bulletlist>')
  expect(xmlOf(doc)).toBe('<bulletList><listItem/><listItem>x</listItem></bulletList>')
})

test('[R18] keeps the spelling of a name as written if the document has the same spelling, several spellings, or none', () => {
  const doc = docOf('<aB/><AB/>')
  replace(doc, '<aB/><AB/><ab/><new/>')
  expect(xmlOf(doc)).toBe('<aB/><AB/><ab/><new/>')
})

test('[R18] changes nothing when the indented form of a Tiptap document is written back', () => {
  const doc = made(
    (root) => root.insert(0, [element('bulletList', [element('listItem', [text(['a', { bold: {} }])])])]),
    richKey,
  )
  expect(replace(doc, doc.getXmlFragment(richKey).toJSON(), richKey).changed).toBe(false)
})

test('[R18] escapes names that XML does not allow', () => {
  const names = ['1st', 'a b', '@click', '_x0041_', '_x_', 'a_x0020_b', '😀', '-', '<', '=']
  const doc = made((root) => {
    root.insert(
      0,
      names.map((name) => element(name, [text(['x', { [`${name}!`]: { [name]: '1' } }])], { [name]: name })),
    )
  })
  const xml = serializeXml(doc, plainKey)
  expect(xml).toContain('<_x0031_st _x0031_st="1st">')
  expect(replace(doc, xml).changed).toBe(false)
  replace(doc, `${xml}<_x0031_st/>`)
  expect(storedOf(doc).at(-1)).toEqual({ name: '1st', attributes: {}, children: [] })
  const copy = docOf(xml)
  expect(storedOf(copy).map((node) => 'name' in node && node.name)).toEqual(names)
})

test('[R19] if the document uses a name only for formatting, treats the name as a mark', () => {
  const doc = made((root) => {
    root.insert(0, [element('p', [text(['a', { shout: true }])])])
  })
  replace(doc, '<p><shout>a</shout></p><p>b<shout>c</shout>d</p>')
  expect(storedOf(doc).at(1)).toEqual({
    name: 'p',
    attributes: {},
    children: [{ text: [{ insert: 'b' }, { insert: 'c', attributes: { shout: true } }, { insert: 'd' }] }],
  })
})

test('[R19] if the document uses a name for elements and for formatting, treats the name as a mark when its content is only inline', () => {
  const doc = made((root) => {
    root.insert(0, [element('code', [element('line')]), text(['x', { code: {} }])])
  })
  replace(doc, '<code><line/></code><code>y</code>')
  expect(storedOf(doc)).toEqual([
    { name: 'code', attributes: {}, children: [{ name: 'line', attributes: {}, children: [] }] },
    { text: [{ insert: 'y', attributes: { code: {} } }] },
  ])
})

test('[R19] keeps an element that has the name of a mark and contains text', () => {
  const doc = made((root) => {
    root.insert(0, [element('code', [text(['x'])]), element('code'), text(['y', { code: {} }])])
  })
  const xml = serializeXml(doc, plainKey)
  expect(xml).toBe('<code><![CDATA[]]>x</code><code/><code>y</code>')
  expect(replace(doc, xml).changed).toBe(false)
})

test('[R19] treats the usual mark names as marks in an empty rich-text root, and as elements elsewhere', () => {
  const xml = '<paragraph>a<bold>b<link href="/x">c</link></bold><shout>d</shout></paragraph>'
  expect(storedOf(docOf(xml, richKey), richKey)).toEqual([
    {
      name: 'paragraph',
      attributes: {},
      children: [
        {
          text: [
            { insert: 'a' },
            { insert: 'b', attributes: { bold: {} } },
            { insert: 'c', attributes: { bold: {}, link: { href: '/x' } } },
          ],
        },
        { name: 'shout', attributes: {}, children: [{ text: [{ insert: 'd' }] }] },
      ],
    },
  ])
  for (const key of ['prosemirror', 'document-store']) {
    expect(storedOf(docOf('<p><em>x</em></p>', key), key)).toMatchObject([
      { children: [{ text: [{ attributes: { em: {} } }] }] },
    ])
  }
  expect(storedOf(docOf('<p><em>x</em></p>'))).toMatchObject([{ children: [{ name: 'em' }] }])
  expect(storedOf(docOf('<code><block/></code>', richKey), richKey)).toMatchObject([{ name: 'code' }])
})

test('[R19] treats a root that has marks as a rich-text root', () => {
  const doc = made((root) => root.insert(0, [text(['a', { bold: {} }])]))
  replace(doc, '<bold>a</bold><italic>b</italic>')
  expect(storedOf(doc)).toEqual([
    {
      text: [
        { insert: 'a', attributes: { bold: {} } },
        { insert: 'b', attributes: { italic: {} } },
      ],
    },
  ])
})

test('[R19] writes the values of marks in the form that the document uses: true, an object, or nulls', () => {
  const doc = made((root) => {
    root.insert(0, [text(['a', { bold: true, link: { href: '/a', title: null, level: 2 } }])])
  })
  replace(
    doc,
    '<bold><link href="/a" level="2">a</link></bold><bold>b<link href="/b" level="3">c</link></bold>',
  )
  expect(storedOf(doc)).toEqual([
    {
      text: [
        { insert: 'a', attributes: { bold: true, link: { href: '/a', title: null, level: 2 } } },
        { insert: 'b', attributes: { bold: true } },
        { insert: 'c', attributes: { bold: true, link: { href: '/b', title: null, level: 3 } } },
      ],
    },
  ])
})

test('[R19] shows a mark whose value is not an object as an element with the attribute `value`', () => {
  const doc = made((root) => root.insert(0, [text(['a', { color: 'red' }], ['b', { size: 12 }])]))
  expect(xmlOf(doc)).toBe('<color value="red">a</color><size value="12">b</size>')
  replace(doc, '<color value="blue">a</color><size value="13">b</size>')
  expect(storedOf(doc)).toEqual([
    {
      text: [
        { insert: 'a', attributes: { color: 'blue' } },
        { insert: 'b', attributes: { size: 13 } },
      ],
    },
  ])
})

test('[R19] when marks of the same name are nested, uses the inner mark, unless the document lets them overlap', () => {
  const link = '<link href="/a">a<link href="/b">b</link></link>'
  expect(xmlOf(docOf(link, richKey), richKey)).toBe('<link href="/a">a</link><link href="/b">b</link>')
  const doc = made((root) => root.insert(0, [text(['x', { 'comment--AAAAAAAA': { id: 1 } }])]))
  replace(doc, '<comment id="1">x<comment id="2">y</comment></comment>')
  const [{ text: delta }] = storedOf(doc) as unknown as [{ text: { attributes: object }[] }]
  expect(delta[0]?.attributes).toEqual({ 'comment--AAAAAAAA': { id: 1 } })
  expect(Object.keys(delta[1]?.attributes ?? {})).toEqual([
    'comment--AAAAAAAA',
    expect.stringMatching(/^comment--[a-zA-Z0-9+/=]{8}$/),
  ])
  expect(xmlOf(doc)).toBe('<comment id="1">x<comment id="2">y</comment></comment>')
})

test('[R20] does not change attributes whose text form is equal', () => {
  const attributes = {
    number: 2,
    boolean: true,
    object: { a: [1, null] },
    array: [1],
    nothing: null,
    bytes: new Uint8Array([1, 2]),
  }
  const doc = made((root) => root.insert(0, [element('a', [], attributes)]))
  const xml = serializeXml(doc, plainKey)
  expect(xml).toBe(
    '<a array="[1]" boolean="true" bytes="AQI=" number="2" object="{&quot;a&quot;:[1,null]}"/>',
  )
  expect(replace(doc, xml).changed).toBe(false)
  replace(doc, xml.replace('/>', '>x</a>'))
  expect(storedOf(doc)).toEqual([{ name: 'a', attributes, children: [{ text: [{ insert: 'x' }] }] }])
})

test('[R20] gives changed and new attributes the type that they have in the document', () => {
  const doc = made((root) => {
    root.insert(0, [element('a', [], { n: 2, b: true, o: { x: 1 }, s: '1' })])
  })
  replace(doc, '<a n="3" b="false" o="[2]" s="2"/><a n="4" b="true" o="{}" s="3"/><b n="4"/>')
  expect(storedOf(doc)).toMatchObject([
    { attributes: { n: 3, b: false, o: [2], s: '2' } },
    { attributes: { n: 4, b: true, o: {}, s: '3' } },
    { attributes: { n: '4' } },
  ])
})

test('[R20] if the text of an attribute does not fit the type of the attribute, stores the text as a string', () => {
  const doc = made((root) => root.insert(0, [element('a', [], { n: 2, b: true, o: {}, p: {}, q: {} })]))
  replace(doc, `<a n="03" b="yes" o="{" p='{"__proto__":1}' q='{"constructor":1}'/>`)
  expect(storedOf(doc)).toMatchObject([
    { attributes: { n: '03', b: 'yes', o: '{', p: '{"__proto__":1}', q: '{"constructor":1}' } },
  ])
})

test('[R21] reads adjacent texts as one text, and keeps them separate when their content changes', () => {
  const doc = made((root) =>
    root.insert(0, [text(['one '], ['two', { bold: {} }]), text([' three']), text()]),
  )
  expect(xmlOf(doc)).toBe('one <bold>two</bold> three')
  expect(replace(doc, 'one <bold>two</bold> three').changed).toBe(false)
  replace(doc, 'one and <bold>two</bold> and three')
  expect(storedOf(doc)).toEqual([
    { text: [{ insert: 'one and ' }, { insert: 'two', attributes: { bold: {} } }] },
    { text: [{ insert: ' and three' }] },
    { text: [] },
  ])
})

test('[R21] keeps a single text child that becomes empty, and puts the next text into it', () => {
  const { doc, kept, lost } = changed('<p>text</p>', '<p/>')
  expect([kept, lost]).toEqual([['p', '#text'], []])
  expect(storedOf(doc)).toEqual([{ name: 'p', attributes: {}, children: [{ text: [] }] }])
  const before = identities(doc)
  replace(doc, '<p>new<br/>more</p>')
  const after = identities(doc)
  expect([...before.keys()].every((id) => after.has(id))).toBe(true)
  expect(xmlOf(doc)).toBe('<p>new<br/>more</p>')
})

test('[R22] updates an element of the same name instead of replacing the element', () => {
  const { kept, lost, added } = changed(
    '<p a="1">one</p><q/><p>three</p>',
    '<p a="2" b="3">uno</p><q>x</q><p/>',
  )
  expect(kept).toEqual(['p', '#text', 'q', 'p', '#text'])
  expect([lost, added]).toEqual([[], ['#text']])
})

test('[R22] matches each element with the most similar stored element', () => {
  const words = (n: number): string => Array.from({ length: 12 }, (_, index) => `w${n}x${index}`).join(' ')
  const before = [1, 2, 3, 4].map((n) => `<p>${words(n)}</p>`).join('')
  const after = `<p>new first</p><p>${words(1)} more</p><p>${words(3)} more</p><p>${words(4)}!</p>`
  const { doc, updates, lost, added } = changed(before, after)
  expect([lost, added]).toEqual([
    ['p', '#text'],
    ['p', '#text'],
  ])
  expect(updates.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(150)
  expect(xmlOf(doc)).toBe(after)
})

test('[R22] matches elements with the same id, however they changed', () => {
  const doc = docOf('<block id="a"><x/>words in it</block><block id="b"><y/>others here</block>')
  const known = doc.get(plainKey)._start?.right?.id
  replace(doc, '<block id="b"><x/>words in it</block>')
  const block = doc.get(plainKey)._first
  expect(block?.id).toEqual(known)
  expect(xmlOf(doc)).toBe('<block id="b"><x/>words in it</block>')
})

test('[R22] changes a word with a small update that keeps every element', () => {
  const paragraphs = Array.from({ length: 200 }, (_, n) => `<p n="${n}">paragraph number ${n} of many</p>`)
  const before = `<doc>${paragraphs.join('')}</doc>`
  const { updates, lost, added } = changed(before, before.replace('number 77', 'no. 77'))
  expect(updates.length).toBe(1)
  expect(updates[0]?.length).toBeLessThan(50)
  expect([lost, added]).toEqual([[], []])
})

test('[R3] creates no transaction if the content is the same', () => {
  const doc = docOf('<a b="1">x<c/></a>')
  let transactions = 0
  doc.on('afterTransaction', () => {
    transactions += 1
  })
  expect(replace(doc, '<?xml version="1.0"?>\n<a   b=\'1\' >x<c></c><!-- --></a>\n')).toEqual({
    changed: false,
    insertions: 0,
    deletions: 0,
  })
  expect(transactions).toBe(0)
})

test('[R5] reading and replacing give a root no type', () => {
  const doc = docOf('<a/>')
  serializeXml(doc, plainKey)
  replace(doc, '<a>x</a><b/>')
  expect(doc.share.get(plainKey)?.constructor).toBe(Y.AbstractType)
  const empty = new Y.Doc()
  expect(serializeXml(empty, plainKey)).toBe('')
  expect(empty.share.has(plainKey)).toBe(false)
  replace(empty, '<a/>')
  expect(xmlOf(empty)).toBe('<a/>')
})

test('[R10] reads characters that XML does not allow as U+FFFD, and keeps the characters when the result is written back', () => {
  const doc = made((root) => {
    root.insert(0, [element('a', [text(['x\u000by\ud800z\uffff'])], { b: '\u0001' })])
  })
  const xml = serializeXml(doc, plainKey)
  expect(xml).toBe('<a b="\ufffd">x\ufffdy\ufffdz\ufffd</a>')
  expect(replace(doc, xml).changed).toBe(false)
  replace(doc, xml.replace('>x', '>New x'))
  expect(xmlOf(doc)).toBe(xml.replace('>x', '>New x'))
})

test('[R9] keeps embeds, hooks and other values that XML cannot express', () => {
  const doc = made((root) => {
    const withEmbed = text(['ab'])
    root.insert(0, [element('a', [withEmbed]), new Y.XmlHook('map') as unknown as Y.XmlText, element('b')])
    withEmbed.insertEmbed(1, { image: 'x' })
  })
  expect(xmlOf(doc)).toBe('<a>ab</a><b/>')
  replace(doc, '<a>abc</a><b>x</b>')
  expect(xmlOf(doc)).toBe('<a>abc</a><b>x</b>')
  expect(storedOf(loadedWithoutHook(doc))).toMatchObject([
    { children: [{ text: [{ insert: 'a' }, { insert: { image: 'x' } }, { insert: 'bc' }] }] },
    { name: 'b' },
  ])
  expect(loaded(doc).getXmlFragment(plainKey).toArray()[1]).toBeInstanceOf(Y.XmlHook)
})

function loadedWithoutHook(doc: Y.Doc): Y.Doc {
  const copy = loaded(doc)
  copy.getXmlFragment(plainKey).delete(1)
  return copy
}
