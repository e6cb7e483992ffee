import { $createLineBreakNode, $createParagraphNode, $createTextNode, $getRoot } from 'lexical'
import type { Node } from 'slate'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { readRoot, readRootAs } from '../../../src/core/content/read-document.ts'
import { replaceContent } from '../../../src/core/content/replace.ts'
import { rootKind } from '../../../src/core/content/yjs/root-kind.ts'
import { updatesOf } from './support.ts'
import { lexicalDoc, lexicalKey, lexicalState, slateDoc, slateKey, slateNodes } from './xmltext-editors.ts'

const replace = (doc: Y.Doc, key: string, data: unknown) =>
  replaceContent(doc, { type: 'xmltext', contentKey: key, data })

const before = [
  { type: 'heading', level: 1, children: [{ text: 'Title' }] },
  { type: 'paragraph', children: [{ text: 'plain ' }, { text: 'bold', bold: true }, { text: ' <&> end\n' }] },
  { type: 'list', children: [{ type: 'item', children: [{ text: '' }] }] },
] as unknown as Node[]

const after = [
  { type: 'heading', level: 2, children: [{ text: 'Title' }] },
  {
    type: 'paragraph',
    children: [
      { text: 'plain and ' },
      { text: 'bold', bold: true, color: 'red' },
      { text: ' ' },
      { type: 'link', url: '/x?a=1&b=2', children: [{ text: 'link' }] },
      { text: ' <&> end\n' },
    ],
  },
  { type: 'image', src: 'x', size: { w: 1, h: null }, children: [{ text: '' }] },
] as unknown as Node[]

test('[R22] changes nothing when Slate documents are written back, and Slate shows written content', () => {
  for (const nodes of [before, after]) {
    const doc = slateDoc(nodes)
    expect(rootKind(doc, slateKey)).toBe('xmltext')
    const { type, data } = readRoot(doc, slateKey)
    expect(type).toBe('xmltext')
    expect(updatesOf(doc, () => replace(doc, slateKey, data))).toEqual([])
  }
  const doc = slateDoc(before)
  replace(doc, slateKey, readRoot(slateDoc(after), slateKey).data)
  expect(slateNodes(doc)).toEqual(slateNodes(slateDoc(after)))
})

test('[R22] reads and writes Slate elements without properties as xmltext, and Slate shows them', () => {
  const bare = [{ children: [{ text: 'one' }] }, { children: [{ text: '' }] }] as unknown as Node[]
  const doc = slateDoc(bare)
  const { data } = readRootAs(doc, 'xmltext', slateKey)
  expect(updatesOf(doc, () => replace(doc, slateKey, data))).toEqual([])
  replace(doc, slateKey, readRoot(slateDoc(after), slateKey).data)
  expect(slateNodes(doc)).toEqual(slateNodes(slateDoc(after)))
  replace(doc, slateKey, data)
  expect(slateNodes(doc)).toEqual(bare)
})

test('[R22] replaces a Slate element with text by one with blocks, because Slate would discard them in it', () => {
  const [text, list] = [
    [{ type: 'paragraph', children: [{ text: '' }] }],
    [{ type: 'list', children: [{ type: 'item', children: [{ text: 'one' }] }] }],
  ] as unknown as Node[][]
  const doc = slateDoc(text as Node[])
  const [before] = doc.get(slateKey, Y.XmlText).toDelta() as { insert: unknown }[]
  replace(doc, slateKey, readRoot(slateDoc(list as Node[]), slateKey).data)
  const [after] = doc.get(slateKey, Y.XmlText).toDelta() as { insert: unknown }[]
  expect(after?.insert).not.toBe(before?.insert)
  expect(slateNodes(doc)).toEqual(list)
})

const writeFirst = (): void => {
  $getRoot().append(
    $createParagraphNode().append($createTextNode('Hello '), $createTextNode('world').toggleFormat('bold')),
    $createParagraphNode(),
  )
}
const writeSecond = (): void => {
  $getRoot().append(
    $createParagraphNode().append(
      $createTextNode('Hello new '),
      $createTextNode('world').toggleFormat('italic'),
      $createLineBreakNode(),
      $createTextNode('more <&>'),
    ),
    $createParagraphNode().append($createTextNode('last')),
  )
}

test('[R22] changes nothing when Lexical documents are written back, and Lexical shows written content', async () => {
  for (const write of [writeFirst, writeSecond]) {
    const doc = lexicalDoc(write)
    expect(rootKind(doc, lexicalKey)).toBe('xmltext')
    const { data } = readRoot(doc, lexicalKey)
    expect(updatesOf(doc, () => replace(doc, lexicalKey, data))).toEqual([])
  }
  const doc = lexicalDoc(writeFirst)
  const target = lexicalDoc(writeSecond)
  replace(doc, lexicalKey, readRoot(target, lexicalKey).data)
  const shown = await lexicalState(doc)
  expect(JSON.stringify(shown)).toContain('Hello new ')
  expect(shown).toEqual(await lexicalState(target))
})
