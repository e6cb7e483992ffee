import * as Y from 'yjs'
import { readRootAs } from '../../../../src/core/content/read-document.ts'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import { loaded, updatesOf } from '../support.ts'

export const quillKey = 'quill'

/** A text and its attributes, or an embed in the same form. */
export type Op = { insert: string | object; attributes?: Record<string, unknown> }

/** A line break with attributes. */
export const br = (attributes: Record<string, unknown>): Op => ({ insert: '\n', attributes })

export function quillDoc(ops: readonly Op[], contentKey = quillKey): Y.Doc {
  const author = new Y.Doc()
  author.clientID = 1
  author.getText(contentKey).applyDelta([...ops])
  return loaded(author)
}

/** Returns the updates that a write in Markdown creates. */
export const write = (doc: Y.Doc, markdown: string, contentKey = quillKey): Uint8Array[] =>
  updatesOf(doc, () => replaceContent(doc, { type: 'markdown', contentKey, data: markdown }))

export const read = (doc: Y.Doc, contentKey = quillKey): string =>
  String(readRootAs(loaded(doc), 'markdown', contentKey).data)

export const delta = (doc: Y.Doc, contentKey = quillKey): unknown =>
  readRootAs(loaded(doc), 'delta', contentKey).data

/** The delta as which Markdown is stored in a new root. */
export function deltaFrom(markdown: string): unknown {
  const doc = new Y.Doc()
  write(doc, markdown)
  return delta(doc)
}
