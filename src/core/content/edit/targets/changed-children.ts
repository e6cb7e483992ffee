import * as Y from 'yjs'
import type { SharedRoot } from '../../yjs/root-kind.ts'

interface ChangedChild {
  readonly parent: SharedRoot
  /** The element or text; null if the item is something else. */
  readonly child: SharedRoot | null
}

/**
 * Yields the items that a transaction has inserted into some shared types, or deleted in them. Call it before the
 * deleted content is removed. The time is linear in the change.
 */
export function* changedChildren(
  transaction: Y.Transaction,
  parents: ReadonlyMap<SharedRoot, unknown>,
): Generator<ChangedChild> {
  for (const struct of [...newStructs(transaction), ...deletedStructs(transaction)]) {
    if (!(struct instanceof Y.Item) || struct.parentSub !== null) continue
    const { parent, content } = struct
    if (!(parent instanceof Y.AbstractType) || !parents.has(parent)) continue
    const type = content instanceof Y.ContentType ? content.type : null
    const isChild = type instanceof Y.XmlElement || type instanceof Y.XmlText
    // Other content that is deleted again was never read.
    if (isChild || !struct.deleted) yield { parent, child: isChild ? type : null }
  }
}

function* newStructs({ beforeState, afterState, doc }: Y.Transaction): Generator<Y.Item | Y.GC> {
  for (const [client, end] of afterState) {
    const start = beforeState.get(client) ?? 0
    if (start >= end) continue
    const structs = doc.store.clients.get(client) ?? []
    for (let at = Y.findIndexSS(structs, start); at < structs.length; at += 1)
      yield structs[at] as Y.Item | Y.GC
  }
}

function* deletedStructs({ deleteSet, doc }: Y.Transaction): Generator<Y.Item | Y.GC> {
  for (const [client, ranges] of deleteSet.clients) {
    const structs = doc.store.clients.get(client) ?? []
    for (const { clock, len } of ranges) {
      for (let at = Y.findIndexSS(structs, clock); at < structs.length; at += 1) {
        const struct = structs[at] as Y.Item | Y.GC
        if (struct.id.clock >= clock + len) break
        yield struct
      }
    }
  }
}
