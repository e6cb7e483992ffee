// @vitest-environment dom
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { applyEdits } from '../../src/core/content/edit/apply-edits.ts'
import { checkEditContent } from '../../src/core/content/edit/check-edits.ts'
import type { EditTarget } from '../../src/core/content/edit/edit.ts'
import { readRootAs } from '../../src/core/content/read-document.ts'
import { replaceContent } from '../../src/core/content/replace.ts'
import { seed } from '../support/data/seed.ts'
import { times } from '../support/time/full-run.ts'
import { blocknote, blocknoteText } from './blocknote.ts'

const contentKey = 'document-store'

/** Markdown that BlockNote and the server store as the same blocks. */
const agreed = [
  'a\n\nb',
  '# a *b*',
  '# a\n\n###### b',
  'Setext\n===\n\nSub\n---',
  '~~s~~ `c` *i* **b**',
  '**`b`** [`c`](http://x)',
  '[l **b**](http://x "t")',
  'a<br>b',
  '> a',
  '> a\n>\n> b',
  '- a\n  - b\n\n    para\n- [ ] t',
  '- [ ] t\n- [x] u',
  '- [x] t\n- b',
  '- \n- b',
  '- a\n- b\n\nc\n\n- d',
  '* a\n\n  b\n* c',
  '- a\n\n  > q',
  '- a\n\n  ---',
  '- a\n  1. b\n  2. c\n     - d',
  '3. a\n4. b\n   1. c',
  '1. a\n\n1) b',
  '| a | b |\n|-|-|\n| 1 | 2 |',
  '|  |  |\n|--|--|\n| 1 | 2 |',
  '![alt](http://h/u.png)',
  '![](http://h/u.png)',
  '[![a](http://h/u.png)](http://h/)',
  '```\ncode\n```',
  '```js\ncode\n\nx\n```',
  '~~~\na\n~~~',
  '---',
  '\\*a\\*',
]

/** Markdown that BlockNote stores as other blocks, and why the server does not do the same. */
const differing: readonly (readonly [text: string, decision: string])[] = [
  ['> # h\n>\n> - x', 'BlockNote joins all text of a quote; the server keeps its blocks as nested blocks'],
  ['- # h', 'BlockNote reads blocks at the start of an item as text; CommonMark does not'],
  ['- ```\n  x\n  ```', 'the same for code'],
  ['| a | b |\n|:-|-:|\n| 1 | 2 |', 'BlockNote drops the alignment of columns, although its cells have one'],
  [
    '![alt](http://h/u.png "t")',
    'BlockNote drops the title of an image; the server stores it as the caption',
  ],
  ['x ![alt](http://h/u.png) y', 'BlockNote drops an image in a line; the server makes it a block'],
  ['    ind', 'BlockNote has no indented code'],
  ['a  \nb', 'BlockNote stores a space after a line break'],
  ['a\\\nb', 'the same for the other form of a line break'],
  ['a\nb', 'BlockNote stores a line break where CommonMark has a space'],
  ['<u>x</u>', 'BlockNote reads HTML in Markdown; the server stores it as text (FMT-9)'],
  ['<div>x</div>', 'the same for blocks'],
  ['http://x.org www.y.org', 'BlockNote links no addresses without markup; GFM does'],
  ['***a** b*', 'BlockNote does not read all nestings of emphasis'],
  ['a &amp; b &lt;', 'BlockNote reads no references to characters'],
  ['```js title="x"\na\n```', 'BlockNote stores the whole info text as the language'],
  ['[a]\n\n[a]: http://x/', 'BlockNote has no reference links'],
  ['[x](javascript:alert)', 'both store no such link; the server keeps its text as it is written'],
]

/** Markdown from `agreed` of which BlockNote's own Markdown loses something. */
const lost: readonly (readonly [text: string, loss: string])[] = [
  ['- a\n  - b\n\n    para\n- [ ] t', 'BlockNote writes blocks in an item that are no lists after the item'],
  ['* a\n\n  b\n* c', 'the same'],
  ['- a\n\n  > q', 'the same'],
  ['- a\n\n  ---', 'the same'],
  ['\\*a\\*', 'BlockNote escapes no characters'],
]

/** Markdown from `agreed` of which BlockNote's HTML loses something. */
const lostInHtml: readonly (readonly [text: string, loss: string])[] = [
  ...lost.slice(0, 4),
  ['- \n- b', 'BlockNote writes a character of its own into empty items; it stays text for the server'],
]

/** HTML that BlockNote and the server store as the same blocks. */
const agreedHtml = [
  '<h2>a <b>b</b></h2><p>c<br>d <em>e</em> <s>f</s> <code>g</code> <u>h</u></p>',
  '<p><a href="http://x/">l</a></p>',
  '<ul><li>a<ol start="3"><li>b</li><li>c</li></ol></li></ul>',
  '<ul><li><p>a</p><p>b</p></li></ul>',
  '<ul><li><input type="checkbox" checked> a</li></ul>',
  '<blockquote><p>a</p></blockquote>',
  '<pre><code class="language-js">a\n  b</code></pre>',
  '<table><tr><th>a</th><th>b</th></tr><tr><td>c</td><td>d</td></tr></table>',
  '<table><tr><td>c</td><td>d</td></tr></table>',
  '<img src="http://h/u.png" alt="n">',
  '<hr>',
]

describe(`BlockNote, seed ${seed}`, () => {
  function written(data: string, type = 'markdown'): Y.Doc {
    const doc = new Y.Doc()
    replaceContent(doc, { type, contentKey, data })
    return doc
  }

  it.each(agreed)('[FMT-105] stores the blocks that BlockNote reads in %j', (data) => {
    expect(blocknoteText.of(written(data)).blocks).toEqual(blocknoteText.ofMarkdown(data))
  })

  it.each(differing)('[FMT-105] stores other blocks than BlockNote reads in %j: %s', (data) => {
    expect(blocknoteText.of(written(data)).blocks).not.toEqual(blocknoteText.ofMarkdown(data))
  })

  it.each(agreedHtml)('[FMT-105] stores the blocks that BlockNote reads in the HTML %j', (data) => {
    expect(blocknoteText.of(written(data, 'html')).blocks).toEqual(blocknoteText.ofHtml(data))
  })

  it.each(['markdown', 'html'] as const)(
    '[FMT-105] reads the content that BlockNote writes as the same blocks: %s',
    (type) => {
      const losses = new Set((type === 'markdown' ? lost : lostInHtml).map(([data]) => data))
      for (const data of agreed) {
        const own = blocknoteText.of(written(data))
        const same =
          JSON.stringify(blocknoteText.of(written(own[type], type)).blocks) === JSON.stringify(own.blocks)
        expect(same, data).toBe(!losses.has(data))
      }
    },
  )

  /** Changes the document of a server while an editor is open. The editor must change no byte. */
  async function live(doc: Y.Doc, change: (server: Y.Doc) => void): Promise<unknown> {
    const [server, own] = [new Y.Doc(), new Y.Doc()]
    Y.applyUpdate(server, Y.encodeStateAsUpdate(doc))
    Y.applyUpdate(own, Y.encodeStateAsUpdate(doc))
    const corrections: Uint8Array[] = []
    own.on('update', (update: Uint8Array, origin: unknown) => origin !== 'remote' && corrections.push(update))
    const seat = blocknote.open(own)
    await settled()
    server.on('update', (update: Uint8Array) => Y.applyUpdate(own, update, 'remote'))
    change(server)
    await settled()
    const shown = JSON.parse(
      JSON.stringify(seat.shown(), (name, value) => (name === 'id' ? undefined : value)),
    )
    seat.close()
    expect(corrections).toEqual([])
    expect(blocknoteText.of(server).blocks).toEqual(shown)
    return shown
  }

  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))

  const texts = fc
    .array(fc.constantFrom(...agreed, ...differing.map(([data]) => data)), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join('\n\n'))

  it.each(['markdown', 'html'])(
    '[FMT-100] shows new content in an open editor, which corrects nothing: %s',
    async (type) => {
      await fc.assert(
        fc.asyncProperty(texts, texts, async (before, after) => {
          const data = type === 'html' ? blocknoteText.of(written(after)).html : after
          await live(written(before), (server) => replaceContent(server, { type, contentKey, data }))
        }),
        { numRuns: times(8, 30), seed },
      )
    },
  )

  const target: EditTarget = {
    is: 'quote',
    quote: 'quoted',
    before: '',
    after: '',
    occurrence: 1,
    acrossBlocks: false,
  }

  it('[FMT-110] shows edits in an open editor, which corrects nothing', async () => {
    await fc.assert(
      fc.asyncProperty(texts, texts, fc.nat(4), async (before, after, choice) => {
        const content = checkEditContent(after, 'markdown', 'content')
        const edit =
          choice === 0
            ? ({ is: 'replace', target, content } as const)
            : ({
                is: 'insert',
                place: [
                  { at: 'start' } as const,
                  { at: 'end' } as const,
                  { at: 'before', target } as const,
                  { at: 'after', target: { is: 'block', index: 0 } } as const,
                ][choice - 1] as { at: 'start' },
                content,
              } as const)
        await live(written(`quoted\n\n${before}`), (server) =>
          applyEdits(server, contentKey, [edit], { given: contentKey, merged: false, schema: null }),
        )
      }),
      { numRuns: times(8, 30), seed },
    )
  })

  it('[FMT-102] writes no byte for the Markdown and the HTML of content that users wrote', async () => {
    for (const content of blocknote.contents) {
      const doc = new Y.Doc()
      const seat = blocknote.open(doc)
      await settled()
      seat.write(content)
      await settled()
      for (const type of ['markdown', 'html']) {
        const { data } = readRootAs(doc, type, contentKey)
        expect(replaceContent(doc, { type, contentKey, data })).toMatchObject({ changed: false })
      }
      seat.close()
    }
  })
})
