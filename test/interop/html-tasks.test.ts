// @vitest-environment dom
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { readRootAs } from '../../src/core/content/read-document.ts'
import { replaceContent } from '../../src/core/content/replace.ts'
import { parsedByTiptap } from './markdown-parsers.ts'

it('[FMT-60] returns task lists in HTML that Tiptap reads back as tasks', () => {
  const doc = new Y.Doc()
  replaceContent(doc, { type: 'markdown', contentKey: 'default', data: '- [x] done\n- [ ] open\n' })
  const html = String(readRootAs(doc, 'html', 'default').data)
  const task = (checked: boolean, text: string) => ({
    type: 'taskItem',
    attrs: { checked },
    content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
  })
  expect(parsedByTiptap(html).content).toEqual([
    { type: 'taskList', content: [task(true, 'done'), task(false, 'open')] },
  ])
})
