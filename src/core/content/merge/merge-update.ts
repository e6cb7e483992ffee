import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { memoized } from '../../base/maps.ts'
import type { IdRange, StoredId } from '../../update/range-index.ts'
import { copyContent } from '../copies/copy-content.ts'
import { blockNote, cellNames, textblockNames } from '../edit/targets/xml-names.ts'
import { nameOf, removableWith } from '../edit/writing/tree-places.ts'
import { toJson } from '../json/json.ts'
import { ContentPaths, deleteIds, parentOf, rangeOfItem, typesIn, typeWithId } from '../yjs/items.ts'
import { rootKind, type SharedRoot } from '../yjs/root-kind.ts'
import { hasSameContent, plainValues } from '../yjs/sequence-content.ts'
import { type CopiedText, mergeFormats, restoreFormats } from './merge-formats.ts'
import { type ThreeWay, threeWay, ValueMerger } from './merge-values.ts'
import { type MergeInput, MergeVersions, type VersionName } from './merge-versions.ts'
import { idName, MergedSequence, showType } from './merged-sequence.ts'
import type { MergeSide, Overlap } from './overlap.ts'
import {
  bitOf,
  clustersIn,
  editedByMine,
  editedByTheirs,
  inBase,
  inMine,
  inTheirs,
  type UnitCluster,
} from './sequence-clusters.ts'

interface MergeOptions {
  /** The side that the content has at overlaps. */
  readonly kept: MergeSide
  /** True if an insertion that others have made, too, is made again. */
  readonly repeatsInsertions: boolean
  /** The side whose items stay if both sides have made the same change. Default: `theirs`. */
  readonly shared?: MergeSide
}

export interface MergeOutcome {
  readonly overlaps: readonly Overlap[]
  /** For each overlap, the ids of its content in all versions and in the result; empty for formatting. */
  readonly places: readonly (readonly IdRange[])[]
  /** True if others have written something at one of the overlaps, and not only deleted content. */
  readonly isRewritten: boolean
  /** The ids that the update creates or deletes, and that have lost to the content of others. */
  readonly lost: readonly IdRange[]
  /** False if the document has the same content as before. */
  readonly changed: boolean
}

/**
 * Merges an update for an older version into a document, in one transaction, so that each word and each plain value of
 * the result is one of a version. Places that both sides have changed get the content of one side.
 * @param doc the document with the state `input.theirs`; new items get its client id
 */
export function mergeUpdate(doc: Y.Doc, input: MergeInput, options: MergeOptions): MergeOutcome {
  const versions = new MergeVersions(input, doc)
  try {
    return doc.transact((transaction) => {
      Y.applyUpdate(doc, input.update)
      // Otherwise Yjs would change the client id, because the document writes with the client of the update.
      transaction.local = true
      return new UpdateMerge(transaction, versions, options).run()
    })
  } finally {
    versions.destroy()
  }
}

/** Repairs a document into which the update was integrated. */
class UpdateMerge {
  readonly #transaction: Y.Transaction
  readonly #doc: Y.Doc
  readonly #versions: MergeVersions
  readonly #options: MergeOptions
  readonly #values: ValueMerger
  /** Sequences that the update has changed. */
  readonly #sequences = new Set<SharedRoot>()
  /** Texts of which the update has changed the formatting. */
  readonly #formatted = new Set<SharedRoot>()
  /** Keys of entries that the update has changed. */
  readonly #entries = new Map<SharedRoot, Set<string>>()
  /** Elements that one side has deleted and the other one has changed, by id. */
  readonly #edited = new Map<string, number>()
  /** Text in the present sequence that gets the formatting of a version, by this version. */
  #copies: Record<MergeSide, CopiedText[]> = { theirs: [], mine: [] }
  /** Elements from which both sides together have deleted all children. */
  readonly #emptied: SharedRoot[] = []
  readonly #lost: IdRange[] = []
  readonly #places: (readonly IdRange[])[] = []
  readonly #paths = new ContentPaths()
  #isRepaired = false
  #isRewritten = false

  constructor(transaction: Y.Transaction, versions: MergeVersions, options: MergeOptions) {
    this.#transaction = transaction
    this.#doc = transaction.doc
    this.#versions = versions
    this.#options = options
    this.#values = new ValueMerger(options.kept)
  }

  run(): MergeOutcome {
    this.#findInsertions()
    for (const range of this.#versions.deletedByMine) this.#findDeletions(range)
    for (const type of this.#sequences) this.#mergeSequence(type)
    for (const type of this.#formatted) this.#mergeFormats(type)
    for (const [type, keys] of this.#entries) for (const key of keys) this.#mergeEntry(type, key)
    for (const type of this.#emptied)
      if (typesIn(type).length === 0) removableWith(type)?._item?.delete(this.#transaction)
    return {
      overlaps: this.#values.overlaps,
      places: this.#places,
      isRewritten: this.#isRewritten,
      lost: this.#lost,
      changed: !this.#isRepaired || !this.#equalsTheirs(),
    }
  }

  #findInsertions(): void {
    const { store } = this.#doc
    for (const [client, structs] of store.clients) {
      const from = this.#versions.clockOfTheirs(client)
      if (from >= Y.getState(store, client)) continue
      for (let at = from === 0 ? 0 : Y.findIndexSS(structs, from); at < structs.length; at++) {
        const struct = structs[at] as Y.Item | Y.GC
        // Yjs discards what is inserted into a deleted type.
        if (struct instanceof Y.Item) this.#touch(struct)
        else this.#findDiscarded({ client, clock: struct.id.clock, length: struct.length }, 'mine')
      }
    }
  }

  /** Finds what the update changes in elements that others have deleted. @param version the version that has the ids */
  #findDiscarded({ client, clock, length }: IdRange, version: 'base' | 'mine'): void {
    this.#isRepaired = true
    if (this.#options.kept === 'theirs') this.#lost.push({ client, clock, length })
    for (let at = clock; at < clock + length; ) {
      const item = this.#versions.item(version, { client, clock: at })
      if (item === null) return
      this.#markEdited(item)
      at = item.id.clock + item.length
    }
  }

  /** Marks the outermost element that others have deleted, and that contains an item of the update. */
  #markEdited(item: Y.Item): void {
    let outermost: Y.Item | null = null
    for (let each: Y.Item | null = item; each !== null; each = (each.parent as SharedRoot)._item) {
      const { bits } = this.#versions.at(each.id)
      if ((bits & inBase) !== 0 && (bits & inTheirs) === 0 && (bits & inMine) !== 0) outermost = each
    }
    if (outermost === null) return
    const parent = this.#typeOf(outermost.parent as SharedRoot)
    if (parent === null) return
    this.#add(parent, outermost.parentSub)
    this.#edited.set(idName(outermost.id), editedByMine)
  }

  /** Returns the type of this document for a type of another version. */
  #typeOf(type: SharedRoot): SharedRoot | null {
    if (type._item === null) return this.#doc.share.get(Y.findRootTypeKey(type)) ?? null
    return typeWithId(this.#doc, type._item.id)
  }

  #findDeletions({ client, clock, length }: IdRange): void {
    const structs = this.#doc.store.clients.get(client)
    if (structs === undefined) return
    for (let at = Y.findIndexSS(structs, clock); at < structs.length; at++) {
      const struct = structs[at] as Y.Item | Y.GC
      if (struct.id.clock >= clock + length) return
      if (!(struct instanceof Y.Item)) {
        const start = Math.max(clock, struct.id.clock)
        const end = Math.min(clock + length, struct.id.clock + struct.length)
        this.#findDiscarded({ client, clock: start, length: end - start }, 'base')
        continue
      }
      this.#touch(struct)
      const { bits } = this.#versions.at(struct.id)
      if (
        (bits & inTheirs) !== 0 &&
        struct.content instanceof Y.ContentType &&
        this.#isEdited(struct.content.type)
      )
        this.#edited.set(idName(struct.id), editedByTheirs)
    }
  }

  /** Adds the place of an item of the update to the changed places. */
  #touch({ parent, parentSub, content }: Y.Item): void {
    const type = parent as SharedRoot
    if (type._item !== null && (type._item.deleted || this.#isNew(type._item.id))) return
    this.#add(type, parentSub)
    if (content instanceof Y.ContentFormat) this.#formatted.add(type)
  }

  #isNew({ client, clock }: Y.ID): boolean {
    return clock >= this.#versions.clockOfTheirs(client)
  }

  #add(type: SharedRoot, key: string | null): void {
    if (key === null) this.#sequences.add(type)
    else memoized(this.#entries, type, () => new Set<string>()).add(key)
  }

  /** Returns whether others have changed something in a type. */
  #isEdited(type: SharedRoot): boolean {
    for (let item = type._start; item !== null; item = item.right) if (this.#isOfOthers(item)) return true
    for (const item of type._map.values()) if (this.#isOfOthers(item)) return true
    return false
  }

  #isOfOthers(item: Y.Item): boolean {
    for (let clock = item.id.clock; clock < item.id.clock + item.length; ) {
      const { bits, end } = this.#versions.at({ client: item.id.client, clock })
      if (((bits & inBase) === 0) !== ((bits & inTheirs) === 0)) return true
      clock = end
    }
    return item.content instanceof Y.ContentType && this.#isEdited(item.content.type)
  }

  #mergeSequence(type: SharedRoot): void {
    const sequence = new MergedSequence(type, this.#versions, this.#edited)
    const isEmptied = sequence.isEmptied()
    const clusters =
      isEmptied && this.#needsChild(type)
        ? [{ indexes: [...sequence.bits.keys()], isSame: false }]
        : [...clustersIn(sequence, this.#options)]
    if (isEmptied && isWrapper(type)) this.#emptied.push(type)
    if (clusters.length === 0) return
    this.#isRepaired = true
    this.#copies = { theirs: [], mine: [] }
    const path = clusters.every(({ isSame }) => isSame) ? '' : this.#paths.of(type)
    for (const cluster of clusters)
      this.#place(sequence.ranges(cluster.indexes), () => this.#resolve(sequence, cluster, path))
    if (type._searchMarker !== null) type._searchMarker.length = 0
    this.#paths.forget(type)
    for (const side of ['theirs', 'mine'] as const) {
      const version = this.#versions.typeIn(side, type)
      if (version !== null && this.#copies[side].length > 0) restoreFormats(type, version, this.#copies[side])
    }
  }

  /** Returns whether a type without children must stay, although it needs one. */
  #needsChild(type: SharedRoot): boolean {
    if (type._item === null)
      return rootKind(this.#versions.doc('theirs'), Y.findRootTypeKey(type)) === 'xmltext'
    if (!isWrapper(type)) return false
    const removed = removableWith(type)
    if (removed === null || cellNames.has(nameOf(type))) return true
    return nameOf(removed) === blockNote.group && parentOf(removed)?._item === null
  }

  #mergeFormats(type: SharedRoot): void {
    const { base, theirs, mine } = threeWay((version) => this.#versions.typeIn(version, type))
    if (!base || !theirs || !mine) return
    const overlaps = mergeFormats(type, { base, theirs, mine }, this.#options.kept)
    if (overlaps.length > 0) this.#isRepaired = true
    this.#place([], () => {
      for (const overlap of overlaps) this.#values.overlap<unknown>(overlap, this.#paths.of(type))
    })
  }

  /** Runs `work`, and records the place of the overlaps that it finds: the given ids, and those that it writes. */
  #place(ids: readonly IdRange[], work: () => void): void {
    const client = this.#doc.clientID
    const clock = Y.getState(this.#doc.store, client)
    work()
    const length = Y.getState(this.#doc.store, client) - clock
    const place = length === 0 ? ids : [...ids, { client, clock, length }]
    while (this.#places.length < this.#values.overlaps.length) this.#places.push(place)
  }

  #resolve(sequence: MergedSequence, { indexes, isSame }: UnitCluster, path: string): void {
    if (isSame) return this.#take(sequence, indexes, this.#options.shared ?? 'theirs')
    this.#isRewritten ||= indexes.some((at) => sequence.has(at, inTheirs) && !sequence.has(at, inBase))
    const lists = sequence.plainLists(indexes)
    if (lists !== null) return this.#mergeList(sequence, indexes, lists, path)
    this.#values.overlap(
      threeWay((version) => sequence.show(indexes, version)),
      path,
    )
    this.#take(sequence, indexes, this.#options.kept)
  }

  #mergeList(
    sequence: MergedSequence,
    indexes: readonly number[],
    lists: ThreeWay<readonly unknown[]>,
    path: string,
  ): void {
    const first = sequence.liveBefore(indexes[0] as number)
    const merged = this.#values.list(lists, path, first)
    const [theirs, mine] = [sequence.movedTo(indexes, 'theirs'), sequence.movedTo(indexes, 'mine')]
    const moved = { theirs, mine }
    const isMine = moved.mine !== null && (moved.theirs === null || this.#options.kept === 'mine')
    const to = isMine ? moved.mine : moved.theirs
    const isPlace = (side: MergeSide): boolean => merged.length === 0 || to === null || to === moved[side]
    for (const side of ['theirs', 'mine'] as const)
      if (isPlace(side) && isDeepStrictEqual(merged, lists[side])) return this.#take(sequence, indexes, side)
    const place = sequence.idAt(to ?? (indexes[0] as number))
    for (const range of sequence.ranges(indexes)) deleteIds(this.#transaction, range)
    if (merged.length > 0) this.#insertBefore(sequence.type, place, new Y.ContentAny(merged))
  }

  /** Gives units the content of one side. */
  #take(sequence: MergedSequence, indexes: readonly number[], side: MergeSide): void {
    const has = (at: number): boolean => sequence.has(at, bitOf[side])
    const isLive = (at: number): boolean => sequence.isLive(at)
    for (const range of sequence.ranges(indexes.filter((at) => isLive(at) && !has(at))))
      deleteIds(this.#transaction, range)
    for (const { client, clock, length } of sequence.ranges(indexes.filter((at) => !isLive(at) && has(at))))
      this.#restore(sequence.type, { client, clock, length }, side)
    if (side === 'theirs')
      this.#lost.push(...sequence.ranges(indexes.filter((at) => !isLive(at) !== !has(at))))
    // The other side can have deleted the marks around insertions of this side.
    const inserted = indexes.filter((at) => has(at) && !sequence.has(at, inBase))
    for (const range of sequence.ranges(inserted)) this.#copies[side].push({ ...range, source: range })
  }

  /** Inserts copies of deleted content before it. */
  #restore(type: SharedRoot, { client, clock, length }: IdRange, side: MergeSide): void {
    for (let at = clock; at < clock + length; ) {
      const item = this.#versions.item(side, { client, clock: at })
      if (item === null) return
      const end = Math.min(clock + length, item.id.clock + item.length)
      const offset = at - item.id.clock
      const source = { client, clock: at }
      const { id } = this.#insertBefore(type, source, item.content, offset, end - at)
      if (item.content instanceof Y.ContentString)
        this.#copies[side].push({ client: id.client, clock: id.clock, length: end - at, source })
      at = end
    }
  }

  #insertBefore(
    type: SharedRoot,
    { client, clock }: StoredId,
    content: Y.Item['content'],
    offset = 0,
    length = content.getLength(),
  ): Y.Item {
    const right: Y.Item = Y.getItemCleanStart(this.#transaction, Y.createID(client, clock))
    const place = { type, key: null, left: right.left, right }
    return copyContent(this.#transaction, place, content, { offset, length })
  }

  #mergeEntry(type: SharedRoot, key: string): void {
    const entries = threeWay((version) => this.#entryIn(version, type, key))
    const ids = Object.values(entries).flatMap((entry) => (entry === null ? [] : rangeOfItem(entry)))
    this.#place(ids, () => this.#mergeValues(type, key, entries))
  }

  #mergeValues(type: SharedRoot, key: string, entries: ThreeWay<Y.Item | null>): void {
    const { base, theirs, mine } = entries
    this.#isRewritten ||= theirs !== null && !isSameItem(base, theirs)
    if (Object.values(entries).some(isSharedEntry)) return this.#mergeShared(type, key, entries)
    const values = threeWay((version) => plainOf(entries[version]))
    const merged = this.#values.merge(values, this.#paths.of(type, key))
    const present = liveEntry(type, key)
    if (isDeepStrictEqual(values.theirs, merged)) this.#loseEntry(mine)
    if (isSharedEntry(present) || !isDeepStrictEqual(plainOf(present), merged))
      this.#setEntry(type, key, merged === undefined ? null : new Y.ContentAny([merged]))
  }

  /** Merges an entry of which a version is a shared value, which is never merged with another value. */
  #mergeShared(type: SharedRoot, key: string, entries: ThreeWay<Y.Item | null>): void {
    const { base, theirs, mine } = entries
    const edited = base === null ? 0 : (this.#edited.get(idName(base.id)) ?? 0)
    let kept: MergeSide = this.#options.kept
    if (isSameItem(base, mine) && edited !== editedByMine) kept = 'theirs'
    else if (isSameItem(base, theirs) && edited !== editedByTheirs) kept = 'mine'
    else {
      const shown = threeWay((version) => showEntry(entries[version]))
      if (isDeepStrictEqual(shown.theirs, shown.mine)) kept = 'theirs'
      else this.#values.overlap(shown, this.#paths.of(type, key))
    }
    if (kept === 'theirs') this.#loseEntry(mine)
    if (!isSameItem(entries[kept], liveEntry(type, key)))
      this.#setEntry(type, key, entries[kept]?.content ?? null)
  }

  /** Records that the value of the update has lost. */
  #loseEntry(entry: Y.Item | null): void {
    this.#isRepaired = true
    if (entry !== null && this.#isNew(entry.id)) this.#lost.push(rangeOfItem(entry))
  }

  #entryIn(version: VersionName, type: SharedRoot, key: string): Y.Item | null {
    const there = this.#versions.typeIn(version, type)
    return there === null ? null : liveEntry(there, key)
  }

  /** Sets an entry to a copy of `content`; null deletes the entry. */
  #setEntry(type: SharedRoot, key: string, content: Y.Item['content'] | null): void {
    this.#isRepaired = true
    const left = type._map.get(key) ?? null
    if (content === null) left?.delete(this.#transaction)
    else {
      const last = { offset: content.getLength() - 1, length: 1 }
      copyContent(this.#transaction, { type, key, left, right: null }, content, last)
    }
  }

  #equalsTheirs(): boolean {
    const theirs = this.#versions.doc('theirs')
    for (const name of new Set([...this.#doc.share.keys(), ...theirs.share.keys()]))
      if (!hasSameContent(this.#doc.share.get(name), theirs.share.get(name))) return false
    return true
  }
}

/** Returns whether an element has children that are not parts of a text. */
const isWrapper = (type: SharedRoot): boolean =>
  type instanceof Y.XmlElement && !textblockNames.includes(type.nodeName)

const liveEntry = (type: SharedRoot, key: string): Y.Item | null => {
  const entry = type._map.get(key)
  return entry === undefined || entry.deleted ? null : entry
}

/** Returns whether the value of an entry is shared, or a subdocument. */
const isSharedEntry = (item: Y.Item | null): boolean =>
  item?.content instanceof Y.ContentType || item?.content instanceof Y.ContentDoc

const isSameItem = (a: Y.Item | null, b: Y.Item | null): boolean =>
  a?.id.client === b?.id.client && a?.lastId.clock === b?.lastId.clock

const plainOf = (entry: Y.Item | null): unknown =>
  entry === null ? undefined : plainValues(entry.content, entry.length - 1, 1)[0]

const showEntry = (entry: Y.Item | null): unknown =>
  entry?.content instanceof Y.ContentType ? showType(entry.content.type) : toJson(plainOf(entry))
