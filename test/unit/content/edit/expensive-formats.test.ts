import { expect, test } from 'vitest'
import { prepareChange, type RootChange } from '../../../../src/core/content/root-change.ts'
import { inlineSizeMax } from '../../../../src/core/rooms/edits/replacement.ts'

/** Returns whether a change is checked at once, and not on a thread. */
const isCheckedHere = (change: RootChange): boolean => prepareChange(change, inlineSizeMax).checked !== null

const inserting = (content: string, format: string): RootChange => ({
  edits: [{ insert: { at: 'end', content, format } }],
})

const list = '1) a\n2. b\n'.repeat(600)
const table = `|${'a|'.repeat(100)}\n|${'-|'.repeat(100)}\n${'|\n'.repeat(500)}`

test('[EDIT-9] checks Markdown and HTML that take long to parse on a thread', () => {
  expect(isCheckedHere(inserting('# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n', 'markdown'))).toBe(true)
  expect(isCheckedHere(inserting(list, 'markdown'))).toBe(false)
  expect(isCheckedHere(inserting(table, 'markdown'))).toBe(false)
  expect(isCheckedHere(inserting('<b><p>'.repeat(1_000), 'html'))).toBe(false)
  expect(isCheckedHere(inserting(list, 'text'))).toBe(true)
  expect(isCheckedHere({ type: 'markdown', data: list })).toBe(false)
  expect(isCheckedHere({ type: 'markdown', data: table })).toBe(false)
  const many = Array.from({ length: 100 }, () => ({
    insert: { at: 'end', content: 'x'.repeat(60), format: 'markdown' },
  }))
  expect(isCheckedHere({ edits: many })).toBe(false)
})
