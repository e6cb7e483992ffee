import type * as Y from 'yjs'
import { readRootAs } from '../../../../src/core/content/read-document.ts'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import type { ReplacementResult } from '../../../../src/core/content/replacement-result.ts'
import { loaded } from '../support.ts'
import { plainKey } from '../xml-support.ts'

/** The content as another replica reads it from the update only. */
export const readJson = (doc: Y.Doc, key = plainKey): unknown =>
  readRootAs(loaded(doc), 'prosemirror', key).data

export const write = (doc: Y.Doc, data: unknown, contentKey = plainKey): ReplacementResult =>
  replaceContent(doc, { type: 'prosemirror', contentKey, data })
