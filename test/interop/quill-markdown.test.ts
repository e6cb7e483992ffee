// @vitest-environment dom
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { readRootAs } from '../../src/core/content/read-document.ts'
import { replaceContent } from '../../src/core/content/replace.ts'
import { seed } from '../support/data/seed.ts'
import { times } from '../support/time/full-run.ts'
import { quill } from './quill.ts'

const blocks = [
  '# Title\n',
  'plain **bold** *italic* ~~struck~~ `code` [link](https://example.com/)\n',
  '- one\n  - inner\n    1. deep\n- two\n',
  '- [ ] open\n- [x] done\n',
  '3. three\n4. four\n\n   more\n',
  '> said\n>\n> - in it\n>\n> ## loud\n',
  '```js\nlet a\n  b\n```\n',
  '```\ncode\n```\n',
  '![An image](/a.png)\n',
  'a ![b](/b.png) c\\\nd\n',
  '***\n',
  '| a | b |\n| - | - |\n| c | d |\n',
]

const documents = fc
  .array(fc.constantFrom(...blocks), { minLength: 1, maxLength: 6 })
  .map((some) => some.join('\n'))

describe(`Quill with Markdown (seed ${seed})`, () => {
  const write = (doc: Y.Doc, data: string): unknown =>
    replaceContent(doc, { type: 'markdown', contentKey: quill.contentKey, data })

  const storedDelta = (doc: Y.Doc): unknown => readRootAs(doc, 'delta', quill.contentKey).data

  /** Returns what Quill shows after it has opened a document. It must change nothing. */
  function shown(doc: Y.Doc): unknown {
    const updates: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => updates.push(update))
    const seat = quill.open(doc)
    const content = seat.shown()
    seat.close()
    expect(updates).toEqual([])
    return JSON.parse(JSON.stringify(content))
  }

  it('[FMT-129] opens written Markdown, shows exactly what is stored, and changes nothing', () => {
    fc.assert(
      fc.property(documents, documents, (first, second) => {
        const doc = new Y.Doc()
        for (const markdown of [first, second]) {
          write(doc, markdown)
          const copy = new Y.Doc()
          Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
          // Quill shows a line break at the end of every text.
          const own = storedDelta(doc) as { insert: unknown; attributes?: object }[]
          const text = new Y.Doc().getText()
          text.applyDelta(own)
          const last = own.at(-1)
          if (!(typeof last?.insert === 'string' && last.insert.endsWith('\n')))
            text.insert(text.length, '\n', {})
          expect(shown(copy)).toEqual(text.toDelta())
        }
      }),
      { seed, numRuns: times(40, 300) },
    )
  })

  it('[FMT-129] changes nothing when content that Quill has written is read and written back', () => {
    for (const content of quill.contents) {
      const doc = new Y.Doc()
      const seat = quill.open(doc)
      seat.write(content)
      seat.close()
      const updates: Uint8Array[] = []
      doc.on('update', (update: Uint8Array) => updates.push(update))
      write(doc, String(readRootAs(doc, 'markdown', quill.contentKey).data))
      expect(updates).toEqual([])
    }
  })
})
