import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { readRootAs } from '../../../../src/core/content/read-document.ts'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import { updatesOf } from '../support.ts'
import { element, identities, made, refusal, richKey, text, xmlOf } from '../xml-support.ts'
import { readHtml, writeHtml, written } from './html-support.ts'

const stored = (html: string, key = richKey): string => xmlOf(written(html, key), key)

test.each([
  ['paragraphs', '<p>a</p><p>b<br>c</p>', '<paragraph>a</paragraph><paragraph>b<hardBreak/>c</paragraph>'],
  ['text without elements', 'a &amp; b', '<paragraph>a &amp; b</paragraph>'],
  ['headings', '<h1>a</h1><h6>b</h6>', '<heading level="1">a</heading><heading level="6">b</heading>'],
  [
    'marks',
    '<p><b>a</b><strong>b</strong><i>c</i><s>d</s><code>e</code></p>',
    '<paragraph><bold>ab</bold><italic>c</italic><strike>d</strike><code>e</code></paragraph>',
  ],
  [
    'nested marks, and marks around blocks',
    '<b><p>a<i>b</i></p></b>',
    '<paragraph><bold>a<italic>b</italic></bold></paragraph>',
  ],
  ['links', '<a href="/x" title="t">a</a>', '<paragraph><link href="/x" title="t">a</link></paragraph>'],
  [
    'lists',
    '<ul><li>a<ol start="3"><li>b</li></ol></li><li><p>c</p><p>d</p></li></ul>',
    '<bulletList><listItem><paragraph>a</paragraph><orderedList start="3"><listItem><paragraph>b</paragraph>' +
      '</listItem></orderedList></listItem><listItem><paragraph>c</paragraph><paragraph>d</paragraph></listItem></bulletList>',
  ],
  [
    'a list directly in a list',
    '<ul><li>a</li><ul><li>b</li></ul></ul>',
    '<bulletList><listItem><paragraph>a</paragraph><bulletList><listItem><paragraph>b</paragraph></listItem>' +
      '</bulletList></listItem></bulletList>',
  ],
  [
    'tasks',
    '<ul><li><input type="checkbox" checked> a</li><li><label><input type="checkbox"></label><div><p>b</p></div></li></ul>',
    '<taskList><taskItem checked="true"><paragraph>a</paragraph></taskItem>' +
      '<taskItem checked="false"><paragraph>b</paragraph></taskItem></taskList>',
  ],
  [
    'code',
    '<pre><code class="language-js">a  &lt;b&gt;\n\tc\n</code></pre>',
    '<codeBlock language="js">a  &lt;b&gt;\n\tc</codeBlock>',
  ],
  [
    'tables',
    '<table><caption>t</caption><thead><tr><th>a<th>b</thead><tr><td colspan=2>c</table>',
    '<paragraph>t</paragraph><table><tableRow><tableHeader colspan="1" rowspan="1"><paragraph>a</paragraph></tableHeader>' +
      '<tableHeader colspan="1" rowspan="1"><paragraph>b</paragraph></tableHeader></tableRow><tableRow>' +
      '<tableCell colspan="1" rowspan="1"><paragraph>c</paragraph></tableCell>' +
      '<tableCell colspan="1" rowspan="1"><paragraph/></tableCell></tableRow></table>',
  ],
  [
    'images',
    '<p>a <img src="/x.png" alt="i" title="t"> b</p>',
    '<paragraph>a</paragraph><image alt="i" src="/x.png" title="t"/><paragraph>b</paragraph>',
  ],
  [
    'images next to line breaks and to spaces that stay',
    '<p style="white-space: normal"><span style="white-space: pre-wrap">a  b</span><br><img src="/x.png"><br>c</p>',
    '<paragraph>a  b</paragraph><image src="/x.png"/><paragraph>c</paragraph>',
  ],
  [
    'quotes and lines',
    '<blockquote>a</blockquote><hr>',
    '<blockquote><paragraph>a</paragraph></blockquote><horizontalRule/>',
  ],
  [
    'unknown elements as their content',
    '<section><x-y>a</x-y> <span class="c">b</span></section><font color=red>c</font>',
    '<paragraph>a b</paragraph><paragraph>c</paragraph>',
  ],
  [
    'the body of a document',
    '<!doctype html><html><head><title>t</title></head><body>\n<p>a\n',
    '<paragraph>a</paragraph>',
  ],
  [
    'white space as in a browser',
    '<p> a\n  b <b> c</b> </p>\n\n<div>\t</div>',
    '<paragraph>a b <bold>c</bold></paragraph>',
  ],
  [
    'HTML that is not well-formed',
    '<p>a<b>b<p>c</i></table>',
    '<paragraph>a<bold>b</bold></paragraph><paragraph><bold>c</bold></paragraph>',
  ],
])('[FMT-60] stores %s', (_name, html, xml) => {
  expect(stored(html)).toBe(xml)
})

test('[FMT-60] uses the names of ProseMirror in a root of ProseMirror', () => {
  expect(stored('<ul><li><b>a</b></li></ul>', 'prosemirror')).toBe(
    '<bullet_list><list_item><paragraph><strong>a</strong></paragraph></list_item></bullet_list>',
  )
})

const article = `<h1>Title &amp; more</h1>
<p>Some <strong>bold <em>text</em></strong>, <code>code</code> and <a href="/x">a <s>link</s></a>.<br>Next&nbsp;line</p>
<ul>
<li>one</li>
<li>two
<ol start="3">
<li><p>a</p>
<p>b</p></li>
<li></li>
</ol></li>
</ul>
<ul data-type="taskList">
<li data-type="taskItem" data-checked="true"><input type="checkbox" checked> done</li>
<li data-type="taskItem" data-checked="false"><input type="checkbox"> open</li>
</ul>
<blockquote>
<p>quote</p>
</blockquote>
<pre><code class="language-ts">if (a &lt; b) {
  c()
}</code></pre>
<hr>
<table>
<tr><th>a</th><th style="text-align: center">b</th></tr>
<tr><td>c</td><td>d</td></tr>
</table>
<p><img src="/i.png" alt="i"></p>`

test('[FMT-61] returns the HTML of all blocks, which a write accepts without a change', () => {
  const doc = written(article)
  expect(readHtml(doc)).toBe(article)
  expect(writeHtml(doc, article).changed).toBe(false)
  expect(writeHtml(doc, article.replaceAll('\n<', ' <')).changed).toBe(false)
})

test.each([
  '<script>alert(1)</script>',
  '<style>p { color: red }</style>',
  '<p onclick="alert(1)">a</p>',
  '<a href="javascript:alert(1)">a</a>',
  '<a href=" java\nscript:alert(1)">a</a>',
  '<a href="&#1;JaVaScRiPt:alert(1)">a</a>',
  '<a href="data:text/html,alert(1)">a</a>',
  '<a href="java&Tab;script&colon;alert(1)">a</a>',
  '<a href="\u200bjavascript:alert(1)">a</a>',
  '<a href="ｊａｖａｓｃｒｉｐｔ：alert(1)">a</a>',
  '<a href="vbscript:alert(1)">a</a>',
  '<img src="javascript:alert(1)" onerror="alert(1)">',
  '<img src="data:image/svg+xml,alert(1)">',
  '<svg><script>alert(1)</script><a href="javascript:alert(1)">a</a></svg>',
  '<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<template><script>alert(1)</script></template>',
  '<p style="background: url(javascript:alert(1))">a</p>',
])('[FMT-62] stores no script and no style: %s', (html) => {
  const doc = written(`${html}<p>kept</p>`)
  expect(xmlOf(doc, richKey)).toContain('kept')
  expect(xmlOf(doc, richKey)).not.toMatch(/alert|color|onerror=|style=/)
})

test('[FMT-62] returns no address that runs a script', () => {
  const doc = made(
    (root) =>
      root.insert(0, [
        element('paragraph', [text(['a', { link: { href: 'javascript:alert(1)' } }])]),
        element('image', [], { src: 'javascript:alert(1)' }),
      ]),
    richKey,
  )
  expect(readHtml(doc)).toBe('<p>a</p>\n<p><img alt=""></p>')
})

const custom = () =>
  made((root) => {
    root.insert(0, [
      element('paragraph', [
        text(['before '], ['red', { textStyle: { color: 'red' } }]),
        element('mention', [], { id: 'u1' }),
        text([' after']),
      ]),
      element('chart', [element('point', [], { x: 1 })], { kind: 'bar' }),
      element('paragraph', [text(['last'])], { textAlign: 'center' }),
    ])
  }, richKey)

test('[FMT-63] writes nothing when a caller writes back content that HTML cannot represent', () => {
  const doc = custom()
  const html = readHtml(doc)
  expect(html).toMatch(
    /^<p>before red<span data-weft-inline="1-\d+">mention<\/span> after<\/p>\n<div data-weft-block="1-\d+">chart<\/div>\n<p>last<\/p>$/,
  )
  expect(updatesOf(doc, () => expect(writeHtml(doc, html).changed).toBe(false))).toEqual([])
})

test('[FMT-64] keeps custom nodes, marks and attributes on content that stays', () => {
  const doc = custom()
  const before = identities(doc, richKey)
  writeHtml(doc, `<h2>New</h2>\n${readHtml(doc).replace('after', 'after all')}`)
  expect(xmlOf(doc, richKey)).toBe(
    '<heading level="2">New</heading><paragraph>before <textStyle color="red">red</textStyle><mention id="u1"/> after all</paragraph>' +
      '<chart kind="bar"><point x="1"/></chart><paragraph textAlign="center">last</paragraph>',
  )
  const after = identities(doc, richKey)
  for (const id of before.keys()) expect(after.has(id)).toBe(true)
})

test('[FMT-64] removes a custom node when its placeholder is removed', () => {
  const doc = custom()
  writeHtml(
    doc,
    readHtml(doc)
      .replace(/<div.*<\/div>\n/, '')
      .replace(/<span.*<\/span>/, ''),
  )
  expect(xmlOf(doc, richKey)).toBe(
    '<paragraph>before <textStyle color="red">red</textStyle> after</paragraph><paragraph textAlign="center">last</paragraph>',
  )
})

test('[FMT-64] rejects a placeholder for a node that the document does not have', () => {
  const doc = custom()
  expect(refusal(() => writeHtml(doc, '<div data-weft-block="9-9">chart</div>'))).toContain('"9-9"')
})

test('[FMT-64] keeps the identity of all other blocks when one item of a list changes', () => {
  const items = Array.from({ length: 200 }, (_, n) => `<li>item number ${n}</li>`)
  const doc = written(`<ul>${items.join('')}</ul>`)
  const before = identities(doc, richKey)
  items[100] = '<li>item <b>number</b> hundred</li>'
  const [update] = updatesOf(doc, () => writeHtml(doc, `<ul>${items.join('')}</ul>`))
  expect(identities(doc, richKey)).toEqual(before)
  expect(update?.length).toBeLessThan(100)
})

test('[FMT-64] keeps tables without a header row', () => {
  const html = '<table>\n<tr><td>a</td><td><p>b</p>\n<p>c</p></td></tr>\n</table>'
  const doc = written(html)
  expect(readHtml(doc)).toBe(html)
  expect(writeHtml(doc, `${html} `).changed).toBe(false)
})

test.each([
  ['nested blocks', '512 deep', '<div>'.repeat(1_000)],
  ['nested marks', '512 deep', '<b>'.repeat(200_000)],
  ['nested quotes', 'blocks of HTML are at most 199 deep', '<blockquote>'.repeat(300)],
  ['paragraphs', '200000 nodes', '<p>a'.repeat(150_000)],
  [
    'marks that multiply',
    '512 deep',
    Array.from({ length: 4_000 }, (_, n) => `<p><font size=${n}>x`).join(''),
  ],
  ['missing cells', '200000 missing cells', `<table>${'<tr><td colspan=100>'.repeat(3_000)}</table>`],
])('[FMT-65] rejects too many %s', (_name, limit, html) => {
  expect(refusal(() => written(html))).toContain(limit)
})

test.each([
  ['one character', 'a'.repeat(1_000_000), 1_000_000],
  ['words', `<p>${'word '.repeat(400_000)}`, 1_999_999],
  ['markup that does not end', '<'.repeat(1_000_000), 1_000_000],
  ['references that do not end', '&'.repeat(1_000_000), 1_000_000],
  ['white space', `a${' '.repeat(1_000_000)}b`, 3],
  ['attributes', `<p ${Array.from({ length: 100_000 }, (_, n) => `a${n}`).join(' ')}>a</p>`, 1],
  ['comments', '<!-- -->'.repeat(100_000), 0],
])('[FMT-65] accepts a lot of %s', (_name, html, length) => {
  const content = xmlOf(written(html), richKey).replace(/<[^>]*>/g, '')
  expect(content.replace(/&\w+;/g, '&')).toHaveLength(length)
})

test('[FMT-65] rejects data that is not a string', () => {
  expect(refusal(() => written(1 as never))).toContain('data must be a string for type "html", not a number')
})

test.each([
  ['<b style="font-weight: normal" id="docs-internal-guid-1"><p>a</p></b>', 'a'],
  ['<span style="font-weight:700">a</span>b', '<bold>a</bold>b'],
  ['<span style="FONT-WEIGHT: 600 !important">a</span>', '<bold>a</bold>'],
  ['<b>a<span style="font-weight:400">b</span></b>', '<bold>a</bold>b'],
  ['<span style="font-style:italic;font-weight:bold">a</span>', '<bold><italic>a</italic></bold>'],
  ['<em style="font-style: normal">a</em>', 'a'],
  ['<span style="text-decoration: line-through red">a</span>', '<strike>a</strike>'],
  ['<s style="text-decoration:none">a</s>', 'a'],
  ['<a href="/x" style="text-decoration:none;font-weight:500">a</a>', '<link href="/x">a</link>'],
  ['<p style="font-weight:bold">a</p>', '<bold>a</bold>'],
  ['<span style="color:red;width:1px;font-weight">a</span>', 'a'],
  [
    'a<span style="white-space:pre-wrap">  <b>b  c</b>\nd<i style="white-space: normal">  e  f</i></span>  g',
    'a  <bold>b  c</bold><hardBreak/>d<italic> e f</italic> g',
  ],
])('[FMT-67] reads the formatting of %s', (html, xml) => {
  const doc = new Y.Doc()
  replaceContent(doc, { type: 'html', contentKey: 'default', data: html })
  expect(readRootAs(doc, 'xml', 'default').data).toBe(`<paragraph>${xml}</paragraph>`)
})

test('[FMT-68] returns nested lists that HTML has stored as Markdown that a write accepts', () => {
  const doc = new Y.Doc()
  const html = '<ul><li>a'.repeat(98) + '</li></ul>'.repeat(98)
  replaceContent(doc, { type: 'html', contentKey: 'default', data: html })
  const { data } = readRootAs(doc, 'markdown', 'default')
  expect(replaceContent(doc, { type: 'markdown', contentKey: 'default', data }).changed).toBe(false)
})
