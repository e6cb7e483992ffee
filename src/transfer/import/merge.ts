import * as Y from 'yjs'
import { createDoc } from '../../content/yjs/create-doc.ts'
import { errorMessage } from '../../errors.ts'
import type { VettingOptions } from '../../update/item-content.ts'
import { checkMapEntries } from '../../update/map-entries.ts'
import { checkNesting } from '../../update/nesting.ts'
import { readUpdate } from '../../update/read-update.ts'

/** The updates of one document put together. */
export interface Merged {
  /** One update (V1) with all of them. */
  readonly bytes: Uint8Array
  readonly content: ContentSum
}

/** What two copies of a document are compared by: they have the same content when both are equal. */
export interface ContentSum {
  /** State vector, as Yjs encodes it. */
  readonly vector: Uint8Array
  /** An update with all deletions, and nothing else. */
  readonly deletions: Uint8Array
}

/** This document cannot be stored; others can. The message is a sentence without a stop. */
export class DocumentRejectedError extends Error {
  override readonly name = 'DocumentRejectedError'
}

/** Enough to share the cost of a transaction; more make Yjs join lists of values pairwise. */
const updatesPerTransaction = 64

/**
 * Makes one update of many, as vetted as what a socket sends. In a Y.Doc: `mergeUpdates` takes time that grows with the
 * square of their number.
 * @throws DocumentRejectedError where an update is malformed, or builds on one that is missing
 */
export function mergeStored(updates: readonly Uint8Array[], options: VettingOptions): Merged {
  const doc = createDoc()
  try {
    for (const [index, bytes] of updates.entries()) vet(bytes, options, updates.length > 1 ? index + 1 : null)
    applyAll(doc, updates)
    return vetWhole(doc, options)
  } finally {
    doc.destroy()
  }
}

/** What whole states hold together. @throws DocumentRejectedError where one is none */
export function contentSum(...states: readonly Uint8Array[]): ContentSum {
  const doc = new Y.Doc()
  try {
    applyAll(doc, states)
    return sumOf(doc)
  } finally {
    doc.destroy()
  }
}

/** What a whole state lacks of an update, as an update; null: nothing. @throws DocumentRejectedError */
export function missingUpdate(state: Uint8Array, update: Uint8Array): Uint8Array | null {
  if (Buffer.compare(state, update) === 0) return null
  const doc = new Y.Doc()
  let lacking: Uint8Array | null = null
  try {
    applyAll(doc, [state])
    doc.on('update', (bytes: Uint8Array) => {
      lacking = bytes
    })
    applyAll(doc, [update])
    return lacking
  } finally {
    doc.destroy()
  }
}

export const isSameContent = (a: ContentSum, b: ContentSum): boolean =>
  Buffer.compare(a.vector, b.vector) === 0 && Buffer.compare(a.deletions, b.deletions) === 0

/** @param number of the update, null when there is only one @throws DocumentRejectedError */
export function vet(bytes: Uint8Array, options: VettingOptions, number: number | null): void {
  try {
    readUpdate(bytes, options)
  } catch (error) {
    const what = number === null ? 'its update' : `its update ${number}`
    throw new DocumentRejectedError(`${what} is malformed: ${errorMessage(error)}`)
  }
}

function applyAll(doc: Y.Doc, updates: readonly Uint8Array[]): void {
  try {
    for (let start = 0; start < updates.length; start += updatesPerTransaction)
      doc.transact(() => {
        for (const bytes of updates.slice(start, start + updatesPerTransaction)) Y.applyUpdate(doc, bytes)
      })
  } catch (error) {
    throw new DocumentRejectedError(`Yjs cannot read it: ${errorMessage(error)}`)
  }
  const { pendingStructs, pendingDs } = doc.store
  if (pendingStructs !== null || pendingDs !== null)
    throw new DocumentRejectedError('it builds on updates that are missing')
}

/** What a single update does not show: depth, entries of maps, and whether all of it is small enough to be read again. */
function vetWhole(doc: Y.Doc, options: VettingOptions): Merged {
  try {
    const bytes = Y.encodeStateAsUpdate(doc)
    const summary = readUpdate(bytes, options)
    checkNesting(bytes, new Y.Doc())
    checkMapEntries(summary, doc)
    return { bytes, content: sumOf(doc) }
  } catch (error) {
    throw new DocumentRejectedError(`it cannot be served: ${errorMessage(error)}`)
  }
}

function sumOf(doc: Y.Doc): ContentSum {
  const vector = Y.encodeStateVector(doc)
  return { vector, deletions: Y.encodeStateAsUpdate(doc, vector) }
}
