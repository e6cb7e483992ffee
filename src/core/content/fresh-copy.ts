import * as Y from 'yjs'
import type { Attribution } from '../update/attribution/attribution.ts'
import { RangeList } from '../update/attribution/range-list.ts'
import { RangeIndex } from '../update/range-index.ts'
import { type CopiedIds, CopyWriter, effectiveParts } from './copies/copy-writer.ts'
import type { StoredAnchor } from './edit/anchors.ts'
import { keepingKinds, kindsIn } from './keep-kinds.ts'
import { createDoc } from './yjs/create-doc.ts'
import { encodePosition, typeWithId } from './yjs/items.ts'
import type { SharedRoot } from './yjs/root-kind.ts'

/** Inserts an item at the start of a root of the copy. Returns null if it inserts none. */
type LeadWriter = (transaction: Y.Transaction, type: SharedRoot, source: SharedRoot) => Y.Item | null

/**
 * A new document with the present content of another one, under one client id that the other document does not
 * have. So the two documents never merge by accident. The copy has no deleted content and no formatting marks
 * without effect. References to subdocuments name the same subdocuments.
 */
export class FreshCopy {
  readonly doc = createDoc()
  /** The ids of the copy in order. Ids that only store the kind of an empty root are not among them. */
  readonly ids: readonly CopiedIds[]
  readonly #source: Y.Doc

  /**
   * Takes one pass over the items.
   * @param lead inserts the item after which the content of a root begins; without it, the content begins the root
   * @throws Error if the document waits for missing updates: a copy would lose their content
   */
  constructor(source: Y.Doc, client?: number, lead?: LeadWriter) {
    const { pendingStructs, pendingDs, clients } = source.store
    if (pendingStructs !== null || pendingDs !== null) throw new Error('the document misses updates')
    if (client !== undefined) this.doc.clientID = client
    while (clients.has(this.doc.clientID)) this.doc.clientID += 1
    this.#source = source
    const writer = new CopyWriter(this.doc, effectiveParts())
    this.doc.transact((transaction) => {
      for (const [name, root] of source.share) {
        const type = this.doc.get(name)
        writer.fill(transaction, type, root, lead?.(transaction, type, root))
      }
      keepingKinds(this.doc, kindsIn(source), () => ({ changed: true, insertions: 0, deletions: 0 }))
    })
    this.ids = writer.ids
  }

  /** Returns the attribution of the copy: each id has the origin of the id that it copies. */
  attribution(attribution: Attribution): Attribution {
    return attributionOfCopy(this.doc.clientID, this.ids, attribution)
  }

  /**
   * Returns anchors at the same places of the copy. A position whose place was deleted stays as it is, because the copy
   * has no such place.
   */
  anchors(given: readonly StoredAnchor[]): readonly StoredAnchor[] {
    const index = RangeIndex.of(this.ids.map(({ clock, source }) => ({ ...source, copy: clock })))
    const typeOf = (type: SharedRoot): SharedRoot | null => {
      if (type._item === null) return this.doc.get(Y.findRootTypeKey(type))
      const { client, clock } = type._item.id
      const { range } = index.at(client, clock)
      if (range === null) return null
      return typeWithId(this.doc, { client: this.doc.clientID, clock: range.copy + clock - range.clock })
    }
    const moved = (text: string): string => {
      const position = Y.decodeRelativePosition(Buffer.from(text, 'base64'))
      const place = Y.createAbsolutePositionFromRelativePosition(position, this.#source)
      const type = place === null ? null : typeOf(place.type)
      if (place === null || type === null) return text
      return encodePosition(Y.createRelativePositionFromTypeIndex(type, place.index, place.assoc))
    }
    return given.map(({ contentKey, position, positionEnd }) => ({
      contentKey,
      position: moved(position),
      ...(positionEnd !== undefined && { positionEnd: moved(positionEnd) }),
    }))
  }
}

/** Returns the attribution of copies with this client id: each id has the origin of the id that it copies. */
export function attributionOfCopy(
  client: number,
  ids: readonly CopiedIds[],
  { inserted }: Attribution,
): Attribution {
  const index = new RangeIndex(inserted)
  const list = new RangeList()
  for (const { clock, source } of ids)
    for (const { range, clock: at, length } of index.parts(source)) {
      const from = clock + at - source.clock
      if (range !== null) list.add(from, from + length, () => range.origin)
    }
  return { inserted: new Map([[client, list.ranges()]]), deleted: new Map() }
}
