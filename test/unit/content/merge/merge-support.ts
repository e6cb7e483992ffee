import * as Y from 'yjs'
import { mergeChange, NothingMergedError } from '../../../../src/core/content/merge/merge-change.ts'
import type { Overlap, OverlapPolicy } from '../../../../src/core/content/merge/overlap.ts'
import { readRoot } from '../../../../src/core/content/read-document.ts'
import type { ReplacementResult } from '../../../../src/core/content/replacement-result.ts'
import { checkChange, type RootChange } from '../../../../src/core/content/root-change.ts'

/** The last client id that a test has used. */
let lastClient = 10_000

export const key = 'content'

const copyOf = (state: Uint8Array): Y.Doc => {
  const doc = new Y.Doc()
  doc.clientID = ++lastClient
  Y.applyUpdate(doc, state)
  return doc
}

export interface Merged {
  readonly data: unknown
  readonly changed: boolean
  readonly overlaps: readonly Overlap[]
  readonly result: ReplacementResult
  readonly doc: Y.Doc
}

/**
 * Merges a change that was made for a base into the base with the changes of others, as the server does for a base
 * version. The changes of others are a change, or made by a function.
 */
export function mergeThree(
  base: RootChange,
  theirs: RootChange | ((doc: Y.Doc) => void),
  mine: RootChange,
  onOverlap: OverlapPolicy = 'report',
): Merged {
  const first = copyOf(Y.encodeStateAsUpdate(new Y.Doc()))
  checkChange(base).apply(first)
  const state = Y.encodeStateAsUpdate(first)
  const live = copyOf(state)
  if (typeof theirs === 'function') live.transact(() => theirs(live))
  else checkChange(theirs).apply(live)
  const present = Y.encodeStateAsUpdate(live)
  const past = copyOf(state)
  const updates: Uint8Array[] = []
  past.on('update', (update) => updates.push(update))
  const { change, apply } = checkChange(mine)
  const made = past.transact(() => apply(past))
  const [update = null] = updates
  const doc = copyOf(present)
  doc.clientID = past.clientID
  if (update === null) return { data: dataOf(doc), changed: false, overlaps: [], result: made, doc }
  try {
    const input = { base: state, theirs: present, update }
    // The server regards a change without an update as none.
    let isWritten = false
    doc.on('update', () => {
      isWritten = true
    })
    const result = doc.transact(() => mergeChange(doc, input, { change, result: made, onOverlap }))
    const changed = result.changed && isWritten
    return { data: dataOf(doc), changed, overlaps: result.overlaps ?? [], result, doc }
  } catch (error) {
    if (!(error instanceof NothingMergedError)) throw error
    const { result } = error
    const unchanged = copyOf(present)
    return {
      data: dataOf(unchanged),
      changed: result.changed,
      overlaps: result.overlaps ?? [],
      result,
      doc: unchanged,
    }
  }
}

const dataOf = (doc: Y.Doc): unknown => readRoot(doc, key).data

export const text = (data: string): RootChange => ({ type: 'text', data, contentKey: key })
export const map = (data: unknown): RootChange => ({ type: 'map', data, contentKey: key })
export const array = (data: unknown): RootChange => ({ type: 'array', data, contentKey: key })
export const xml = (data: string): RootChange => ({ type: 'xml', data, contentKey: key })
