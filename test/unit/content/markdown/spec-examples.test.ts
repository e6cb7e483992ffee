import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { BlockNode, Inline } from '../../../../src/core/content/blocks/block.ts'
import { allFeatures } from '../../../../src/core/content/blocks/block-format.ts'
import { isInvisible } from '../../../../src/core/content/blocks/block-keys.ts'
import { parseMarkdown } from '../../../../src/core/content/markdown/parse-markdown.ts'
import { serializeXml } from '../../../../src/core/content/xml/serialize.ts'
import { loaded, updatesOf } from '../support.ts'
import { gfmExamples } from './gfm-examples.ts'
import { checkMarkdown, readMarkdown, replaceMarkdown } from './markdown-support.ts'

const { tests } = createRequire(import.meta.url)('commonmark-spec') as {
  readonly tests: readonly { readonly markdown: string; readonly number: number }[]
}

const examples: readonly (readonly [string, string])[] = [
  ...tests.map(({ number, markdown }) => [`CommonMark ${number}`, markdown] as const),
  ...gfmExamples.map((markdown, index) => [`GFM ${index + 1}`, markdown] as const),
]

/** A tree for comparisons. Its marks are sorted. */
const comparable = (node: BlockNode | Inline): unknown => {
  if ('content' in node) return { ...node, content: node.content.map(comparable) }
  if ('children' in node) {
    const children: readonly BlockNode[] = node.children
    return { ...node, children: children.filter((child) => !isInvisible(child)).map(comparable) }
  }
  return 'marks' in node ? { ...node, marks: Object.entries(node.marks).sort() } : node
}

const editors = [
  ['Tiptap', 'default', allFeatures],
  ['ProseMirror', 'prosemirror', { table: false, strike: false, taskList: false, blockImages: false }],
] as const

describe.each(editors)('examples in a root of %s', (_, key, features) => {
  const treeOf = (text: string): unknown => parseMarkdown(text, features).blocks.map(comparable)

  it('[FMT-3] has the same block tree after each example is stored and read', () => {
    expect(examples.length).toBe(652 + 24)
    for (const [name, text] of examples) {
      const doc = new Y.Doc()
      replaceMarkdown(doc, key, checkMarkdown(text))
      const read = readMarkdown(loaded(doc), key)
      expect(treeOf(read), name).toEqual(treeOf(text))
      const again = new Y.Doc()
      replaceMarkdown(again, key, checkMarkdown(read))
      expect(serializeXml(again, key), name).toBe(serializeXml(doc, key))
    }
  })

  it('[FMT-4] changes nothing else when a paragraph is added to each example', () => {
    for (const [name, text] of examples) {
      const doc = new Y.Doc()
      replaceMarkdown(doc, key, checkMarkdown(text))
      const before = serializeXml(doc, key)
      const read = readMarkdown(doc, key)
      replaceMarkdown(doc, key, checkMarkdown(`${read}\nnew paragraph\n`))
      expect(serializeXml(doc, key), name).toBe(`${before}<paragraph>new paragraph</paragraph>`)
      updatesOf(doc, () => replaceMarkdown(doc, key, checkMarkdown(read)))
      expect(serializeXml(doc, key), name).toBe(before)
    }
  })
})
