import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { DocumentHistory } from '../../../../src/core/content/history/document-history.ts'
import { stateUntil } from '../../../../src/core/content/history/past-state.ts'
import { AttributionBuilder } from '../../../../src/core/update/attribution/attribution-builder.ts'

/** Makes changes of users at times in seconds, and returns the text of the document at a time. */
function historyOf(
  changes: readonly (readonly [by: string, seconds: number, edit: (text: Y.Text) => void])[],
) {
  const docs = new Map<string, Y.Doc>()
  const builder = new AttributionBuilder()
  const updates: Uint8Array[] = []
  for (const [by, seconds, edit] of changes) {
    const doc = docs.get(by) ?? new Y.Doc({ gc: false })
    docs.set(by, doc)
    for (const update of updates) Y.applyUpdate(doc, update)
    doc.once('update', (bytes: Uint8Array) => {
      updates.push(bytes)
      builder.add({ bytes, by, at: seconds * 1_000 })
    })
    doc.transact(() => edit(doc.getText('content')))
  }
  return (seconds: number): string => {
    const history = new DocumentHistory({ from: [], to: updates })
    const past = new Y.Doc()
    Y.applyUpdate(past, stateUntil(history, builder.build(), seconds * 1_000))
    history.destroy()
    return past.getText('content').toString()
  }
}

it('[ATT-122] returns text that was deleted later, and without text that was inserted later', () => {
  const textAt = historyOf([
    ['ada', 10, (text) => text.insert(0, 'one two')],
    ['bob', 20, (text) => text.delete(0, 4)],
    ['ada', 30, (text) => text.insert(3, ' three')],
  ])
  expect([5, 10, 20, 30].map(textAt)).toEqual(['', 'one two', 'two', 'two three'])
})

it('[ATT-122] leaves out a change that depends on a later one, because it has the time of an earlier change', () => {
  const textAt = historyOf([
    ['ada', 10, (text) => text.insert(0, 'one')],
    ['bob', 12, (text) => text.insert(3, ' two')],
    ['ada', 14, (text) => text.insert(7, ' three')],
    ['ada', 14, (text) => text.delete(0, 4)],
  ])
  expect(textAt(12)).toBe('two three')
  expect(textAt(11)).not.toContain('three')
})
