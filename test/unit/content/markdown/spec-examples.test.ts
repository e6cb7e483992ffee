import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { BlockNode, Inline } from '../../../../src/core/content/blocks/block.ts'
import { allFeatures } from '../../../../src/core/content/blocks/block-format.ts'
import { isInvisible } from '../../../../src/core/content/blocks/block-keys.ts'
import { parseMarkdown } from '../../../../src/core/content/markdown/parse-markdown.ts'
import { serializeXml } from '../../../../src/core/content/xml/serialize.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'
import { loaded } from '../support.ts'
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

/** The editors, and how many of the examples their tests use: each, or each third one from the seed on. */
const editors = [
  ['Tiptap', 'default', allFeatures, 1],
  [
    'ProseMirror',
    'prosemirror',
    { table: false, strike: false, taskList: false, blockImages: false },
    times(3, 1),
  ],
] as const

it('has all examples of both specifications', () => expect(examples.length).toBe(652 + 24))

describe.each(editors)(`examples in a root of %s (seed ${seed})`, (_, key, features, step) => {
  const treeOf = (text: string): string =>
    JSON.stringify(parseMarkdown(text, features).blocks.map(comparable))

  it('[FMT-3] [FMT-4] has the same blocks after each example is stored and read, and changes nothing else when a paragraph is added', () => {
    const [found, expected]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}]
    for (const [name, text] of examples.filter((_each, index) => (index + seed) % step === 0)) {
      const doc = new Y.Doc()
      replaceMarkdown(doc, key, checkMarkdown(text))
      const stored = serializeXml(doc, key)
      const read = readMarkdown(loaded(doc), key)
      const again = new Y.Doc()
      replaceMarkdown(again, key, checkMarkdown(read))
      replaceMarkdown(doc, key, checkMarkdown(`${read}\nnew paragraph\n`))
      const longer = serializeXml(doc, key)
      replaceMarkdown(doc, key, checkMarkdown(read))
      found[name] = [treeOf(read), serializeXml(again, key), longer, serializeXml(doc, key)]
      expected[name] = [treeOf(text), stored, `${stored}<paragraph>new paragraph</paragraph>`, stored]
    }
    expect(found).toEqual(expected)
  })
})
