import * as Y from 'yjs'
import type { Attribution } from '../../update/attribution/attribution.ts'
import { type IdRange, RangeIndex } from '../../update/range-index.ts'
import type { SelectedIds } from './undo-selection.ts'

/** Ids of deleted content, and the id at which its copy starts. */
interface CopiedRange extends IdRange {
  readonly copy: Y.ID
}

/**
 * Finds the copies of deleted content that earlier undos have inserted. An undo inserts a copy directly before the
 * deleted content, so the right origin of the copy is the first id of that content.
 */
export class RestoredCopies {
  readonly #store: Y.Doc['store']
  readonly #selected: Pick<SelectedIds, 'inserted' | 'deleted'>
  /** Each layer has disjoint ranges. There are several layers if content was restored several times. */
  readonly #layers: readonly RangeIndex<CopiedRange>[]

  /** @param selected the changes that the undo undoes. A copy gets a copy itself if they have deleted but not inserted it. */
  constructor(
    { store }: Y.Doc,
    attribution: Attribution,
    selected: Pick<SelectedIds, 'inserted' | 'deleted'>,
  ) {
    this.#store = store
    this.#selected = selected
    this.#layers = layersOf([...copiesIn(store, attribution)])
  }

  /** Looks up the copy of an id. */
  at(client: number, clock: number): FoundCopy {
    let end = Number.POSITIVE_INFINITY
    let place: Y.ID | null = null
    for (const layer of this.#layers) {
      const found = layer.at(client, clock)
      end = Math.min(end, found.end)
      if (found.range === null) continue
      const { copy, clock: start } = found.range
      const id = Y.createID(copy.client, copy.clock + clock - start)
      const item = Y.getItem(this.#store, id)
      const next = item.deleted
        ? this.#ofDeleted(item, id)
        : { copy: id, place: null, end: item.id.clock + item.length }
      end = Math.min(end, clock + Math.min(item.id.clock + item.length, next.end) - id.clock)
      if (next.copy !== null) return { ...next, end }
      place = next.place ?? place
    }
    return { copy: null, place, end }
  }

  #ofDeleted(item: Y.Item | Y.GC, id: Y.ID): FoundCopy {
    const found = this.at(id.client, id.clock)
    if (found.copy !== null || !(item instanceof Y.Item) || item.content instanceof Y.ContentDeleted)
      return found
    const inserted = this.#selected.inserted.at(id.client, id.clock)
    const deleted = this.#selected.deleted.at(id.client, id.clock)
    const returns = deleted.range !== null && inserted.range === null
    const end = Math.min(found.end, inserted.end, deleted.end)
    if (returns) return { copy: id, place: null, end }
    return { copy: null, place: item.content instanceof Y.ContentType ? null : (found.place ?? id), end }
  }
}

interface FoundCopy {
  /** The copy that is live or that the undo restores; null if there is none. */
  readonly copy: Y.ID | null
  /** The newest deleted copy, if there is no other: the content belongs before it. Its content is the same. */
  readonly place: Y.ID | null
  /** End of the clocks with the same answer. */
  readonly end: number
}

/** Returns the countable items of sequences that undos have inserted, with the content that they copy. */
function* copiesIn({ clients }: Y.Doc['store'], { inserted }: Attribution): Generator<CopiedRange> {
  for (const [client, ranges] of inserted) {
    const structs = clients.get(client)
    if (structs === undefined) continue
    for (const { clock, length, origin } of ranges) {
      if (origin.source !== 'undo') continue
      yield* copiesFrom(structs, clock, clock + length)
    }
  }
}

function* copiesFrom(structs: readonly (Y.Item | Y.GC)[], from: number, to: number): Generator<CopiedRange> {
  const last = structs.at(-1)
  if (last === undefined || last.id.clock + last.length <= from) return
  let [previous, offset]: [Y.Item | null, number] = [null, 0]
  for (let index = Y.findIndexSS(structs as (Y.Item | Y.GC)[], from); index < structs.length; index++) {
    const item = structs[index] as Y.Item | Y.GC
    if (item.id.clock >= to) return
    if (!(item instanceof Y.Item) || item.rightOrigin === null || item.parentSub !== null) {
      previous = null
      continue
    }
    const { client, clock } = item.rightOrigin
    offset = previous !== null && continues(previous, item) ? offset + previous.length : 0
    previous = item
    if (item.countable) yield { client, clock: clock + offset, length: item.length, copy: item.id }
  }
}

/** Returns whether an item is the next part of a divided item. */
const continues = (previous: Y.Item, { id, origin, rightOrigin }: Y.Item): boolean =>
  Y.compareIDs(origin, previous.lastId) &&
  Y.compareIDs(rightOrigin, previous.rightOrigin) &&
  previous.id.clock + previous.length === id.clock

function layersOf(copies: readonly CopiedRange[]): readonly RangeIndex<CopiedRange>[] {
  const sorted = [...copies].sort((a, b) => a.client - b.client || a.clock - b.clock)
  const layers: CopiedRange[][] = []
  for (const copy of sorted) {
    const free = layers.find((layer) => {
      const last = layer.at(-1)
      return last === undefined || last.client !== copy.client || last.clock + last.length <= copy.clock
    })
    if (free === undefined) layers.push([copy])
    else free.push(copy)
  }
  return layers.map((layer) => RangeIndex.of(layer))
}
