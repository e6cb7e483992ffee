import * as Y from 'yjs'
import {
  deletedEvidenceOf,
  type Evidence,
  type ForgottenKind,
  hasStoredKind,
  kindEntry,
  kindOfMarker,
  type SharedRoot,
} from './root-kind.ts'

/**
 * Option of a Y.Doc that is not a subdocument. Yjs otherwise creates a random GUID with 31 calls, which takes ten times
 * as long as the rest of the Y.Doc. Only subdocuments use their GUID.
 */
export const noGuid = { guid: '' } as const

/**
 * Creates a Y.Doc in which arrays and XML keep their kind when clients empty them. Yjs garbage-collects the
 * content of deleted items, and then nothing shows their kind. Therefore, in a root that a transaction
 * empties, one deleted item gets content again: an element whose name states the kind. This marker adds about
 * 25 bytes and no item, so state vector and version do not change. All states that are encoded from the
 * document contain the marker. Clients do not show it, because the item is deleted.
 */
export function createDoc(): Y.Doc {
  const doc = new Y.Doc(noGuid)
  const markers = new WeakMap<SharedRoot, Y.Item>()
  // At this moment the deleted items still have their content.
  doc.on('beforeObserverCalls', (transaction: Y.Transaction) => {
    const emptied = emptiedRoots(transaction)
    if (emptied.size === 0) return
    Y.iterateDeletedStructs(transaction, transaction.deleteSet, (struct) => {
      if (struct instanceof Y.Item) emptied.get(struct.parent)?.add(struct)
    })
    // Yjs would start a transaction for each marker, and each copies the clocks of all clients.
    doc.transact(() => {
      for (const root of emptied.values()) root.mark(transaction, markers)
    })
  })
  return doc
}

/** Returns the roots whose sequence the transaction has changed so that only deleted items are left. */
function emptiedRoots({ changed }: Y.Transaction): ReadonlyMap<unknown, EmptiedRoot> {
  const emptied = new Map<SharedRoot, EmptiedRoot>()
  for (const [root, keys] of changed) {
    if (root._item !== null || root._length > 0 || root._start === null || !keys.has(null)) continue
    if (!hasStoredKind(root)) emptied.set(root, new EmptiedRoot(root))
  }
  return emptied
}

/** A root that a transaction has emptied, and the evidence for its kind in the deleted items. */
class EmptiedRoot {
  readonly #root: SharedRoot
  readonly #evidence = new Set<Evidence>()
  /** A deleted item that still has its content. */
  #item: Y.Item | null = null
  /** The marker that the document already had when it was loaded. */
  #marker: Y.Item | null = null

  constructor(root: SharedRoot) {
    this.#root = root
  }

  /** Adds the evidence of an item that was deleted in the transaction. */
  add(item: Y.Item): void {
    const { content, parentSub } = item
    if (parentSub !== null || content instanceof Y.ContentDeleted) return
    if (kindOfMarker(item) !== null) this.#marker ??= item
    else {
      this.#evidence.add(deletedEvidenceOf(content))
      this.#item ??= item
    }
  }

  /**
   * Sets the marker of the root.
   * @param markers the markers of all roots of the document; the marker of this root is added
   */
  mark(transaction: Y.Transaction, markers: WeakMap<SharedRoot, Y.Item>): void {
    const marker = markers.get(this.#root) ?? this.#marker
    if (this.#item === null) {
      if (marker !== null) keepMarker(this.#root, marker, markers)
      return
    }
    const kind = this.#kind()
    if (kind === null) return unmark(transaction, this.#root, markers)
    const item = marker ?? firstOf(transaction, this.#item)
    if (kindOfMarker(item) !== kind) setMarker(transaction, item, kind)
    keepMarker(this.#root, item, markers)
  }

  /**
   * Returns the kind that the marker must state; null for text, because an empty root without a kind is read
   * as text.
   */
  #kind(): ForgottenKind | null {
    const evidence = this.#evidence
    if (evidence.has('text')) return null
    // A text never contains plain values, and an array may contain any shared type.
    if (evidence.has('array')) return 'array'
    if (evidence.has('xmltext')) return 'xmltext'
    if (evidence.has('value')) return 'array'
    return this.#root._map.size > 0 ? 'xmltext' : 'xml'
  }
}

/** Splits an item after its first element. Returns the item with this element. */
function firstOf(transaction: Y.Transaction, item: Y.Item): Y.Item {
  const { client, clock } = item.id
  if (item.length > 1) Y.getItemCleanStart(transaction, Y.createID(client, clock + 1))
  return item
}

function setMarker({ doc }: Y.Transaction, item: Y.Item, kind: ForgottenKind): void {
  item.gc(doc.store, false)
  const element = new Y.XmlElement(kindEntry(kind))
  element._integrate(doc, item)
  item.content = new Y.ContentType(element)
}

/** Sets the flag that prevents Yjs from garbage-collecting the content of a deleted item. */
function keepMarker(root: SharedRoot, item: Y.Item, markers: WeakMap<SharedRoot, Y.Item>): void {
  item.keep = true
  markers.set(root, item)
}

function unmark({ doc }: Y.Transaction, root: SharedRoot, markers: WeakMap<SharedRoot, Y.Item>): void {
  const item = markers.get(root)
  if (item === undefined) return
  item.keep = false
  item.gc(doc.store, false)
  markers.delete(root)
}
