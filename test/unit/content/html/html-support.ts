import * as Y from 'yjs'
import { readRootAs } from '../../../../src/core/content/read-document.ts'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import type { ReplacementResult } from '../../../../src/core/content/replacement-result.ts'
import { loaded } from '../support.ts'
import { richKey } from '../xml-support.ts'

/** The content as another replica reads it from the update only. */
export const readHtml = (doc: Y.Doc, key = richKey): string =>
  readRootAs(loaded(doc), 'html', key).data as string

export const writeHtml = (doc: Y.Doc, data: unknown, contentKey = richKey): ReplacementResult =>
  replaceContent(doc, { type: 'html', contentKey, data })

/** A document of a new editor that was written as HTML. */
export function written(html: string, key = richKey): Y.Doc {
  const author = new Y.Doc()
  author.clientID = 1
  writeHtml(author, html, key)
  return loaded(author)
}
