import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { parseMarkdown } from '../../../../src/core/content/markdown/parse-markdown.ts'
import { readRootAs } from '../../../../src/core/content/read-document.ts'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import { checkChange } from '../../../../src/core/content/root-change.ts'
import { serializeXml } from '../../../../src/core/content/xml/serialize.ts'
import { checkXml, replaceTree } from '../../../../src/core/content/xml/xml.ts'
import { limits } from '../../../../src/core/model/limits.ts'
import { times } from '../../../support/time/full-run.ts'
import { loaded, updatesOf } from '../support.ts'
import { docOf, element, identities, made, richKey, storedOf, text } from '../xml-support.ts'
import { checkMarkdown, readMarkdown, replaceMarkdown } from './markdown-support.ts'

const write = (doc: Y.Doc, markdown: string, key = richKey): Uint8Array[] =>
  updatesOf(doc, () => replaceMarkdown(doc, key, checkMarkdown(markdown)))

const read = (doc: Y.Doc, key = richKey): string => readMarkdown(loaded(doc), key)
const xml = (doc: Y.Doc, key = richKey): string => serializeXml(loaded(doc), key)

/** The XML that Markdown is stored as in a new root. */
const xmlFrom = (markdown: string, key = richKey): string => {
  const doc = new Y.Doc()
  write(doc, markdown, key)
  return xml(doc, key)
}

describe('stored form', () => {
  it('[FMT-172] strikes text between one or two tildes, and no other', () => {
    const struck = (text: string): string => xmlFrom(text).replace(/<\/?paragraph>/g, '')
    expect(struck('~one~ ~~two~~')).toBe('<strike>one</strike> <strike>two</strike>')
    for (const text of ['This will ~~~not~~~ strike', 'a ~~b~ c', 'a ~b~~ c']) expect(struck(text)).toBe(text)
  })

  it.each([
    ['http://a.b', 'http://a.b', ''],
    ['https://a.b/c?d=e&f#g', 'https://a.b/c?d=e&f#g', ''],
    ['ftp://a.b', 'ftp://a.b', ''],
    ['http://localhost:80/x', 'http://localhost:80/x', ''],
    ['http://ann@a.b/x', 'http://ann@a.b/x', ''],
    ['http://a.b,c;d!e', 'http://a.b,c;d!e', ''],
    ['http://a.b.', 'http://a.b', '.'],
    ['http://a.b/c?!.,:*_~', 'http://a.b/c', '?!.,:*_~'],
    [`http://a.b/"c'"`, `http://a.b/"c`, `'"`],
    ['http://a.b/(c)', 'http://a.b/(c)', ''],
    ['http://a.b/(c))', 'http://a.b/(c)', ')'],
    ['http://a.b/c&lt;', 'http://a.b/c', '<'],
    ['http://a.b/c;', 'http://a.b/c', ';'],
    ['http://a.b/<c', 'http://a.b/', '<c'],
    ['http://a.b/[c]', 'http://a.b/[c]', ''],
    ['http://a.b/c]', 'http://a.b/c', ']'],
    ['http://a_b.c.d', 'http://a_b.c.d', ''],
    ['http://a_b.c', '', 'http://a_b.c'],
    ['http://a.b_c', '', 'http://a.b_c'],
    ['http://.a', '', 'http://.a'],
    ['xhttp://a.b', '', 'xhttp://a.b'],
  ])('[FMT-192] links %j as GFM does', (markdown, address, rest) => {
    const doc = new Y.Doc()
    write(doc, markdown)
    const { blocks } = parseMarkdown(markdown)
    const texts = blocks.flatMap((block) => (block.kind === 'paragraph' ? block.content : []))
    const shown = texts.map((each) => (each.kind === 'text' ? [each.text, each.marks.link?.href] : each.kind))
    const expected = [
      [address, address],
      [rest, undefined],
    ].filter(([text]) => text !== '')
    expect(shown).toEqual(expected)
    const stored = xml(doc)
    expect(write(doc, read(doc))).toEqual([])
    expect(xmlFrom(read(doc))).toBe(stored)
  })

  it('[FMT-192] links an address without a scheme, and one in a list or in bold text', () => {
    expect(xmlFrom('www.a.b/c.')).toContain('href="http://www.a.b/c"')
    expect(xmlFrom('- see http://a.b/c**d** e')).toContain('href="http://a.b/c**d"')
    expect(xmlFrom('**http://a.b**')).toContain('href="http://a.b"')
    expect(xmlFrom('[http://a.b](http://c.d)')).toContain('href="http://c.d"')
    expect(xmlFrom('`http://a.b`')).not.toContain('href')
  })

  it('[FMT-173] warns if text that is not empty has no blocks', () => {
    const doc = new Y.Doc()
    const target = { type: 'markdown', contentKey: 'default' }
    replaceContent(doc, { ...target, data: 'text' })
    const edits = [{ insert: { at: 'end', content: '[a]: /b', format: 'markdown' } }]
    expect(checkChange({ contentKey: 'default', edits }).apply(doc).warnings?.[0]).toContain('has no blocks')
    expect(replaceContent(doc, { ...target, data: '[a]: /b' }).warnings?.[0]).toContain('has no blocks')
    expect(replaceContent(doc, { ...target, data: '' }).warnings).toBeUndefined()
  })

  it('[FMT-190] reads formatting that ends at an emoji next to a letter as it has written it', () => {
    const doc = new Y.Doc()
    replaceTree(doc, richKey, checkXml('<paragraph>Great<bold>🎉</bold>news</paragraph>'))
    expect(read(doc)).toBe('Grea&#x74;**🎉**&#x6E;ews\n')
    expect(xmlFrom(read(doc))).toBe('<paragraph>Great<bold>🎉</bold>news</paragraph>')
  })

  it('[FMT-1] accepts the type in a write and a read', () => {
    const doc = new Y.Doc()
    replaceContent(doc, { type: 'markdown', contentKey: 'default', data: '# Title\n' })
    expect(readRootAs(doc, 'markdown', 'default').data).toBe('# Title\n')
    expect(readRootAs(doc, 'xml', 'default').data).toBe('<heading level="1">Title</heading>')
    expect(() => replaceContent(doc, { type: 'markdown', data: 1 })).toThrow('must be a string')
  })

  it('[FMT-7] uses the names, types and nesting of Tiptap', () => {
    const doc = new Y.Doc()
    write(
      doc,
      '2. *a* **b** ~~c~~ `d` [e](/f "g")\n\n- [x] t\n- # h\n\n| a |\n| :-: |\n| b |\n\n```js\nx\n```\n',
      'content',
    )
    expect(xml(doc, 'content')).toBe(
      '<orderedList start="2"><listItem><paragraph><italic>a</italic> <bold>b</bold> <strike>c</strike> ' +
        '<code>d</code> <link href="/f" title="g">e</link></paragraph></listItem></orderedList>' +
        '<taskList><taskItem checked="true"><paragraph>t</paragraph></taskItem></taskList>' +
        '<bulletList><listItem><paragraph/><heading level="1">h</heading></listItem></bulletList>' +
        '<table><tableRow><tableHeader align="center" colspan="1" rowspan="1"><paragraph>a</paragraph></tableHeader></tableRow>' +
        '<tableRow><tableCell align="center" colspan="1" rowspan="1"><paragraph>b</paragraph></tableCell></tableRow></table>' +
        '<codeBlock language="js">x</codeBlock>',
    )
    const stored = JSON.stringify(storedOf(doc, 'content'))
    for (const part of ['"start":2', '"checked":true', '"level":1', '"colspan":1', '"bold":{}'])
      expect(stored).toContain(part)
  })

  it('[FMT-7] uses the names of ProseMirror, and of the root if it has content', () => {
    const markdown = '1. *a* **b** ~~c~~\n\n- [ ] d\n'
    const basic =
      '<ordered_list order="1"><list_item><paragraph><em>a</em> <strong>b</strong> ~~c~~</paragraph></list_item></ordered_list>' +
      '<bullet_list><list_item><paragraph>[ ] d</paragraph></list_item></bullet_list>'
    expect(xmlFrom(markdown, 'prosemirror')).toBe(basic)
    const doc = docOf('<bullet_list><list_item><paragraph>x</paragraph></list_item></bullet_list>', richKey)
    write(doc, markdown)
    expect(xml(doc)).toBe(basic)
  })

  it('[FMT-7] stores an image as a block, unless lines of the root contain images', () => {
    expect(xmlFrom('a ![b](/c) d\n')).toBe(
      '<paragraph>a</paragraph><image alt="b" src="/c"/><paragraph>d</paragraph>',
    )
    const doc = docOf('<paragraph>x<image src="/y"/></paragraph>', richKey)
    write(doc, 'a ![b](/c) d\n')
    expect(xml(doc)).toBe('<paragraph>a <image alt="b" src="/c"/> d</paragraph>')
    expect(read(doc)).toBe('a ![b](/c) d\n')
    expect(xmlFrom('[![b](/c)](/d)\n')).toBe('<image alt="b" href="/d" src="/c"/>')
  })

  it('[FMT-9] stores HTML as text, except line breaks, and no links that run scripts', () => {
    expect(xmlFrom('<div onclick="x">\na\n</div>\n')).toBe(
      '<paragraph>&lt;div onclick="x"&gt; a &lt;/div&gt;</paragraph>',
    )
    expect(xmlFrom('a <b>c</b><br>d\n')).toBe('<paragraph>a &lt;b&gt;c&lt;/b&gt;<hardBreak/>d</paragraph>')
    expect(xmlFrom('[a](javascript:x) <vbscript:y>\n')).not.toContain('<link')
    const doc = docOf('<paragraph>&lt;script&gt;</paragraph>', richKey)
    expect(read(doc)).toBe('\\<script>\n')
  })

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java&Tab;script:alert(1)',
    'java&#9;script:alert(1)',
    'java&NewLine;script:alert(1)',
    'java&#13;script&colon;alert(1)',
    '&Tab;&nbsp;javascript:alert(1)',
    '\u200bjavascript:alert(1)',
    'ｊａｖａｓｃｒｉｐｔ：alert(1)',
    'vb&Tab;script:alert(1)',
    'data&Tab;:text/html,alert(1)',
    'data:image/svg+xml,alert(1)',
  ])('[FMT-174] stores no link and no image whose address runs a script: %s', (address) => {
    for (const markdown of [
      `[a](${address})`,
      `[a](<${address}> "b")`,
      `![a](${address})`,
      `[a]\n\n[a]: ${address}`,
      `[![a](/b)](${address})`,
    ])
      expect(xmlFrom(markdown)).not.toMatch(/href|src="(?!\/b)/)
    expect(xmlFrom(`<${address}>`)).not.toContain('href')
  })

  it('[FMT-174] returns no address that runs a script, and writes nothing when the text is written back', () => {
    const [link, src] = [{ href: 'java\tscript:alert(1)' }, 'javascript:alert(1)']
    const doc = made(
      (root) =>
        root.insert(0, [
          element('paragraph', [text(['a', { link }])]),
          element('image', [], { src, alt: 'b', href: src }),
        ]),
      richKey,
    )
    expect(read(doc)).toBe('a\n\n![b]()\n')
    expect(write(doc, read(doc))).toEqual([])
  })
})

describe('changes', () => {
  it('[FMT-4] changes one item of a long list only', () => {
    const items = Array.from({ length: 1_000 }, (_, index) => `- item ${index}`)
    const doc = new Y.Doc()
    write(doc, `${items.join('\n')}\n`)
    const before = identities(doc, richKey)
    items[500] = '- item five hundred'
    const updates = write(doc, `${items.join('\n')}\n`)
    expect(updates.length).toBe(1)
    expect(updates[0]?.length).toBeLessThan(80)
    expect(identities(doc, richKey)).toEqual(before)
  })

  it('[FMT-5] keeps formatting and attributes that Markdown cannot represent', () => {
    const doc = docOf(
      '<paragraph textAlign="center">one <textStyle color="red">two <bold>three</bold></textStyle> ' +
        '<comment id="c">four</comment> <link href="/a" target="_blank">five</link></paragraph>' +
        '<taskList><taskItem checked="false" id="7"><paragraph indent="2">six</paragraph></taskItem></taskList>',
      richKey,
    )
    const markdown = read(doc)
    expect(markdown).toBe('one two **three** four [five](/a)\n\n- [ ] six\n')
    write(doc, markdown.replace('one two', 'zero, one two').replace('[ ] six', '[x] six, seven'))
    expect(xml(doc)).toBe(
      '<paragraph textAlign="center">zero, one <textStyle color="red">two </textStyle><bold><textStyle color="red">three</textStyle></bold> ' +
        '<comment id="c">four</comment> <link href="/a" target="_blank">five</link></paragraph>' +
        '<taskList><taskItem checked="true" id="7"><paragraph indent="2">six, seven</paragraph></taskItem></taskList>',
    )
  })

  it('[FMT-5] gives inserted text the formatting of both its neighbors', () => {
    const doc = docOf('<paragraph><textStyle color="red">one three</textStyle></paragraph>', richKey)
    write(doc, 'one two three\n')
    expect(xml(doc)).toBe('<paragraph><textStyle color="red">one two three</textStyle></paragraph>')
  })

  const commented = (text: string, other = ''): string =>
    `<paragraph indent="2">${text}<comment id="c">two</comment>${other}</paragraph>`

  it.each([
    ['# one two', `<heading level="1">one <comment id="c">two</comment></heading>`],
    ['> one two', `<blockquote>${commented('one ')}</blockquote>`],
    ['1. one two', `<orderedList start="1"><listItem>${commented('one ')}</listItem></orderedList>`],
    [
      'one\n\n> zero two',
      `<paragraph indent="2">one</paragraph><blockquote><paragraph>zero <comment id="c">two</comment></paragraph></blockquote>`,
    ],
  ])(
    '[FMT-5] keeps the formatting of the text when a paragraph becomes %j, and when it is one again',
    (markdown, wanted) => {
      const doc = docOf(commented('one '), richKey)
      write(doc, markdown)
      expect(xml(doc)).toBe(wanted)
      write(doc, 'one two')
      expect(xml(doc)).toContain('<comment id="c">two</comment>')
    },
  )

  it.each([
    ['- one\n  - zero two', 'indented'],
    ['- [ ] one\n- [x] zero two', 'as tasks'],
    ['one\n\n## zero two', 'as other blocks'],
    ['- one zero two', 'joined'],
  ])('[FMT-5] keeps the formatting in the items of a list that become %j (%s)', (markdown) => {
    const item = (line: string): string => `<listItem>${line}</listItem>`
    const doc = docOf(
      `<bulletList>${item('<paragraph>one</paragraph>')}${item(commented('zero '))}</bulletList>`,
      richKey,
    )
    write(doc, markdown)
    expect(xml(doc)).toContain('zero <comment id="c">two</comment>')
  })

  it('[FMT-5] does not take the formatting of another text with the same words', () => {
    const doc = docOf('<paragraph><comment id="c">The plan for the year</comment></paragraph>', richKey)
    write(doc, '# Costs of the house for guests')
    expect(xml(doc)).toBe('<heading level="1">Costs of the house for guests</heading>')
  })

  it('[FMT-4] keeps empty paragraphs next to blocks that stay, and fills one at the start', () => {
    const doc = docOf('<paragraph>a</paragraph><paragraph/><paragraph>b</paragraph><paragraph/>', richKey)
    write(doc, 'a\n\nb\n\nc\n')
    expect(xml(doc)).toBe(
      '<paragraph>a</paragraph><paragraph/><paragraph>b</paragraph><paragraph/><paragraph>c</paragraph>',
    )
    const empty = docOf('<paragraph/>', richKey)
    write(empty, 'a\n')
    expect(xml(empty)).toBe('<paragraph>a</paragraph>')
  })

  it.each([
    ['- # h\n\n  a b c d\n', '- a b c\n'],
    ['- # h\n\n  a b\n', '- a b\n'],
    ['- # h\n', '- # h2\n'],
    ['- - a\n', '- x\n  - a\n'],
    ['- a\n', '- # a\n'],
  ])('[FMT-7] removes the empty paragraph of an item when %j becomes %j', (before, after) => {
    const doc = new Y.Doc()
    write(doc, before)
    write(doc, after)
    expect(xml(doc)).toBe(xmlFrom(after))
  })

  it('[FMT-10] takes at most 1.1 times the bytes of the same revisions as XML', () => {
    const [one, two] = [new Y.Doc(), new Y.Doc()]
    const blocks = Array.from({ length: 60 }, (_, index) =>
      index % 7 === 0
        ? `## Part ${index}`
        : index % 5 === 0
          ? `- item ${index}\n- other **item** ${index}`
          : `Text ${index} with *some* words and [a link](/to/${index}).`,
    )
    let [markdownBytes, xmlBytes] = [0, 0]
    for (let revision = 0; revision < times(12, 40); revision++) {
      const at = (revision * 17) % blocks.length
      if (revision % 3 === 0) blocks.splice(at, 1)
      else if (revision % 3 === 1) blocks.splice(at, 0, `New paragraph of revision ${revision}.`)
      else blocks[at] = `${blocks[at]} And more in revision ${revision}.`
      const markdown = `${blocks.join('\n\n')}\n`
      for (const update of write(one, markdown)) markdownBytes += update.length
      const target = checkXml(xmlFrom(markdown))
      for (const update of updatesOf(two, () => replaceTree(two, richKey, target))) xmlBytes += update.length
      expect(xml(one)).toBe(xml(two))
    }
    expect(markdownBytes).toBeLessThanOrEqual(1.1 * xmlBytes)
  })
})

describe('placeholders', () => {
  const mention = (): Y.XmlElement => element('mention', [], { id: 'u1', label: 'Ada' })
  const doc = (): Y.Doc =>
    made((root) => {
      root.insert(0, [
        element('paragraph', [text(['before ']), mention(), text([' after'])]),
        element('callout', [element('paragraph', [text(['inside'])])], { tone: 'warning' }),
        element('paragraph', [text(['end'])]),
      ])
    }, richKey)

  it('[FMT-2] [FMT-6] keeps nodes whose placeholders stay', () => {
    const live = doc()
    const before = xml(live)
    const markdown = read(live)
    expect(markdown).toMatch(
      /^before !\[mention\]\(weft-inline:\d+-\d+\) after\n\n```weft-block \d+-\d+ callout\n```\n\nend\n$/,
    )
    expect(write(live, markdown)).toEqual([])
    write(live, markdown.replace('before', 'Before').replace('end', 'The end'))
    expect(xml(live)).toBe(before.replace('before', 'Before').replace('end', 'The end'))
  })

  it('[FMT-6] deletes nodes whose placeholders were removed, and moves nodes with their placeholders', () => {
    const live = doc()
    const [first = '', callout = '', end = ''] = read(live).split('\n\n')
    write(live, `${end.trim()}\n\n${callout}\n`)
    expect(xml(live)).toBe(
      '<paragraph>end</paragraph><callout tone="warning"><paragraph>inside</paragraph></callout>',
    )
    const other = doc()
    write(other, `${callout}\n\n${first.replace(/!\[.*?\)/, 'x')}\n`)
    expect(xml(other)).toContain('<callout tone="warning"><paragraph>inside</paragraph></callout>')
    expect(xml(other)).not.toContain('mention')
  })

  it('[FMT-6] rejects a placeholder without a stored node', () => {
    expect(() => write(doc(), 'a\n\n```weft-block 9-9 callout\n```\n')).toThrow(/line 3.*"9-9"/)
    expect(() => write(doc(), 'a\n![x](weft-inline:9-9)\n')).toThrow(/"9-9"/)
  })

  it.each([
    ['its id is missing', /weft-block \S+/, 'weft-block', 'callout'],
    ['its id is changed', /weft-block (\d+)-/, 'weft-block $1', '\\d+'],
  ])('[FMT-6] rejects the placeholder of a block when %s', (_case, from, to, named) => {
    const live = docOf('<paragraph>a</paragraph><callout><paragraph>b</paragraph></callout>', richKey)
    const before = xml(live)
    const markdown = read(live).replace(from, to)
    expect(() => write(live, markdown)).toThrow(new RegExp(`line 3.*"${named}"`))
    expect(xml(live)).toBe(before)
  })

  it('[FMT-2] writes nothing when code has the language of a placeholder', () => {
    const live = docOf(
      '<codeBlock language="weft-block 1-2 chart">x</codeBlock><codeBlock language="weft-block">y</codeBlock>',
      richKey,
    )
    expect(write(live, read(live))).toEqual([])
  })

  it('[FMT-6] shows a table that Markdown cannot represent as a placeholder', () => {
    const live = docOf(
      '<table><tableRow><tableCell colspan="2"><paragraph>a</paragraph></tableCell></tableRow></table>',
      richKey,
    )
    expect(read(live)).toMatch(/^```weft-block \S+ table\n```\n$/)
  })
})

describe('limits', () => {
  it('[FMT-8] rejects text when it exceeds the limit for characters, nesting or nodes', () => {
    expect(() => checkMarkdown('a'.repeat(limits.markdownCharacters + 1))).toThrow('at most')
    expect(() => checkMarkdown(`a\n\n${'>'.repeat(limits.markdownDepth + 1)} a`)).toThrow(/line 3.*deep/)
    expect(() => checkMarkdown(`${'- '.repeat(limits.markdownDepth)} a`)).toThrow('deep')
    expect(() => checkMarkdown('a\n\n'.repeat(limits.nodes / 2))).toThrow('nodes')
    const shortRows = `|${'a|'.repeat(300)}\n|${'-|'.repeat(300)}\n${'|\n'.repeat(200)}`
    expect(() => checkMarkdown(shortRows)).toThrow('nodes')
    expect(xmlFrom(`${'>'.repeat(limits.markdownDepth - 1)} a`)).toContain('a')
  })

  it.each([
    '*a ',
    'a**b',
    '*_',
    '[',
    '![',
    '[a](',
    '[a][',
    '`a',
    '<a ',
    '<!--a',
    'http://',
    'www.',
    'a@b.',
    '|',
    '\\',
    '&a',
    'a\n-\n',
    '[a]: u\n',
  ])('[FMT-8] accepts thousands of characters of %j', (piece) => {
    const doc = new Y.Doc()
    write(doc, piece.repeat(times(10_000, 50_000) / piece.length))
    const markdown = read(doc)
    expect(write(doc, markdown)).toEqual([])
  })
})
