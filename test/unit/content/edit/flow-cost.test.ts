import { expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import type { FlowPiece, TextFlow } from '../../../../src/core/content/edit/targets/flow-view.ts'
import { readNestedView } from '../../../../src/core/content/edit/targets/nested-view.ts'
import { readXmlView } from '../../../../src/core/content/edit/targets/xml-view.ts'
import { FlowWriter } from '../../../../src/core/content/edit/writing/flow-writer.ts'
import { NestedFlowWriter } from '../../../../src/core/content/edit/writing/nested-writer.ts'
import { docOf, richKey } from '../xml-support.ts'

const count = 1_000

/** The number of lookups of a binary search in the pieces, and of the pieces around its result. */
const readsMax = 100

/** Returns the flow with a counter of the reads of its pieces. */
function counted({ text, pieces }: TextFlow): { flow: TextFlow; reads: () => number } {
  let reads = 0
  const watched: readonly FlowPiece[] = new Proxy(pieces, {
    get(target, key): unknown {
      reads += 1
      return Reflect.get(target, key)
    },
  })
  return { flow: { text, pieces: watched }, reads: () => reads }
}

test('[EDIT-9] reads few pieces of a block of XML for each change', () => {
  const doc = docOf(`<paragraph>${'ab<hardBreak/>'.repeat(count)}</paragraph>`, richKey)
  const view = readXmlView(doc.getXmlFragment(richKey))
  const { flow, reads } = counted(view.flows[0] as TextFlow)
  doc.transact((transaction) => {
    const writer = new FlowWriter(transaction, { ...view, flows: [flow] })
    writer.replace({ flow: 0, start: 0, end: flow.text.length }, 'ac\n'.repeat(count))
  })
  expect(reads()).toBeLessThan(count * readsMax)
})

test('[EDIT-9] reads few pieces of a block of nested texts for each change', () => {
  const doc = new Y.Doc()
  const [root, paragraph] = [doc.get('root', Y.XmlText), new Y.XmlText()]
  root.insertEmbed(0, paragraph)
  for (let link = 0; link < count; link++) paragraph.insertEmbed(0, new Y.XmlText('ab '))
  for (const link of paragraph.toDelta() as { insert: Y.XmlText }[])
    link.insert.setAttribute('__type', 'link')
  const view = readNestedView(root)
  const { flow, reads } = counted(view.flows[0] as TextFlow)
  doc.transact((transaction) => {
    const writer = new NestedFlowWriter(transaction, { ...view, flows: [flow] })
    writer.replace({ flow: 0, start: 0, end: flow.text.length }, 'ac '.repeat(count))
  })
  expect(reads()).toBeLessThan(count * readsMax)
})

test('[EDIT-9] writes the formatting of a block with many inline elements once', () => {
  const doc = new Y.Doc()
  const [root, paragraph] = [doc.get('root', Y.XmlText), new Y.XmlText()]
  root.insertEmbed(0, paragraph)
  for (let link = 0; link < count; link++) {
    paragraph.insert(paragraph.length, 'ab ')
    paragraph.insertEmbed(paragraph.length, new Y.XmlText('link'))
  }
  const view = readNestedView(root)
  const applyDelta = vi.spyOn(Y.Text.prototype, 'applyDelta')
  doc.transact((transaction) => {
    const writer = new NestedFlowWriter(transaction, view)
    const bold = [{ name: 'bold', value: true }]
    writer.mark({ flow: 0, start: 0, end: view.flows[0]?.text.length ?? 0 }, () => bold)
  })
  expect(applyDelta).toHaveBeenCalledTimes(1 + count)
  applyDelta.mockRestore()
  const delta = paragraph.toDelta() as { insert: unknown; attributes?: object }[]
  expect(delta.filter(({ insert }) => insert === 'ab ')).toHaveLength(count)
  for (const { insert, attributes } of delta)
    expect(attributes).toEqual(insert === 'ab ' ? { bold: true } : undefined)
})
