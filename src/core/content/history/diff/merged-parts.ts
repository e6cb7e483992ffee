import type * as Y from 'yjs'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { DocumentHistory, HistoryState } from '../document-history.ts'

/** How content differs between two versions. */
export type PartChange = 'insert' | 'delete' | 'none'

/** A part of an item that at least one of the two versions contains. */
export interface MergedPart {
  readonly item: Y.Item
  readonly offset: number
  readonly length: number
  readonly change: PartChange
}

const changes: Readonly<Partial<Record<HistoryState, PartChange>>> = {
  unchanged: 'none',
  inserted: 'insert',
  deleted: 'delete',
}

/**
 * Yields the sequence of a type as it is in either version, in the order of the document. In a stretch of changes, the
 * deleted parts are before the inserted ones. Includes marks of texts.
 */
export function* mergedParts(history: DocumentHistory, type: SharedRoot): Generator<MergedPart> {
  const inserted: MergedPart[] = []
  for (const part of storedParts(history, type)) {
    if (part.change === 'insert') {
      inserted.push(part)
      continue
    }
    if (part.change === 'none') yield* inserted.splice(0)
    yield part
  }
  yield* inserted
}

function* storedParts(history: DocumentHistory, { _start }: SharedRoot): Generator<MergedPart> {
  for (let item = _start; item !== null; item = item.right) {
    const { client, clock } = item.id
    for (let offset = 0; offset < item.length; ) {
      const { state, end } = history.stateAt(client, clock + offset)
      const length = Math.min(item.length, end - clock) - offset
      const change = changes[state]
      if (change !== undefined) yield { item, offset, length, change }
      offset += length
    }
  }
}
