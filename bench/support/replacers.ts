import diff from 'fast-diff'
import type * as Y from 'yjs'
import { replaceContent } from '../../src/core/content/replace.ts'

export const contentKey = 'content'

/** A method that replaces the text of a document. */
export interface Replacer {
  readonly name: string
  replace(doc: Y.Doc, target: string): void
}

const weft: Replacer = {
  name: 'Weft',
  replace: (doc, target) => {
    replaceContent(doc, { type: 'text', contentKey, data: target })
  },
}

const whole: Replacer = {
  name: 'whole replacement',
  replace: (doc, target) => {
    const text = doc.getText(contentKey)
    doc.transact(() => {
      text.delete(0, text.length)
      text.insert(0, target)
    })
  },
}

const prefixSuffix: Replacer = {
  name: 'prefix/suffix',
  replace: (doc, target) => {
    const text = doc.getText(contentKey)
    const source = text.toJSON()
    const start = commonStart(source, target)
    const end = commonEnd(source, target, start)
    doc.transact(() => {
      if (source.length > start + end) text.delete(start, source.length - start - end)
      if (target.length > start + end) text.insert(start, target.slice(start, target.length - end))
    })
  },
}

const fastDiff: Replacer = {
  name: 'fast-diff',
  replace: (doc, target) => {
    const text = doc.getText(contentKey)
    const operations = diff(text.toJSON(), target, undefined, true).map(([kind, part]) => {
      if (kind === diff.INSERT) return { insert: part }
      return kind === diff.DELETE ? { delete: part.length } : { retain: part.length }
    })
    text.applyDelta(operations)
  },
}

/** All methods. The others are compared with the first one, which is that of Weft. */
export const replacers: readonly Replacer[] = [weft, whole, prefixSuffix, fastDiff]

function commonStart(a: string, b: string): number {
  const limit = Math.min(a.length, b.length)
  let length = 0
  while (length < limit && a.charCodeAt(length) === b.charCodeAt(length)) length += 1
  return length
}

function commonEnd(a: string, b: string, start: number): number {
  const limit = Math.min(a.length, b.length) - start
  let length = 0
  while (length < limit && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length))
    length += 1
  return length
}
