import * as Y from 'yjs'
import { firstIndex } from '../../base/search.ts'
import type { IdRange, StoredId } from '../../update/range-index.ts'
import { idOf, rangeOfItem } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { formOfItem } from '../yjs/sequence-content.ts'
import type { Edit, EditDependencies, EditDependency, InsertedRun } from './edit.ts'
import { type FlowPiece, type FlowView, piecesIn, type TextRange } from './targets/flow-view.ts'
import type { ResolvedTarget } from './targets/resolve.ts'

/** Records the stored content on which the edits of one transaction depend. */
export class DependencyRecorder {
  readonly #transaction: Y.Transaction
  readonly #contentKey: string
  readonly #client: number
  /** Clock of the first item that the transaction can create. */
  readonly #firstClock: number
  /** The clock at the end of each edit. */
  readonly #clocks: number[] = []
  readonly #edits: EditDependency[] = []
  readonly #deletions = new Map<number, number>()
  #types: StoredId[] = []
  #target: IdRange[] = []

  constructor(transaction: Y.Transaction, contentKey: string) {
    const { doc } = transaction
    this.#transaction = transaction
    this.#contentKey = contentKey
    this.#client = doc.clientID
    this.#firstClock = Y.getState(doc.store, doc.clientID)
  }

  target(view: FlowView, target: ResolvedTarget): void {
    if (target.is === 'text') {
      for (const range of target.ranges) this.#addText(view, range)
      return
    }
    const block = view.blocks[target.block]
    const type = target.is === 'node' ? target.node.type : (block?.type ?? null)
    if (type !== null) this.#addType(type)
    // The line break belongs to the line, so that a line without text is not empty.
    else if (block !== undefined) this.#addText(view, { ...block, end: block.end + 1 })
  }

  end(edit: Edit): void {
    const deleted = this.#deleted()
    const clock = this.#clocks.at(-1) ?? this.#firstClock
    const end = Y.getState(this.#transaction.doc.store, this.#client)
    this.#edits.push({
      types: this.#types,
      target: this.#target,
      elements: edit.is === 'patch' || isOfPath(edit) ? deleted.filter(this.#isElement) : [],
      deleted,
      created: { client: this.#client, clock, length: end - clock },
      isInsertion: isInsertion(edit),
    })
    this.#clocks.push(end)
    this.#types = []
    this.#target = []
  }

  dependencies = (): EditDependencies => ({ edits: this.#edits, inserted: this.#inserted() })

  #addType({ _item: item }: SharedRoot): void {
    if (item !== null && !this.#isNew(item.id)) this.#types.push(idOf(item))
  }

  #addText(view: FlowView, range: TextRange): void {
    for (const [piece, from, to] of piecesIn(view, range))
      for (const ids of rangesOf(piece, from, to)) if (!this.#isNew(ids)) this.#target.push(ids)
  }

  /** Returns the older content that was deleted since the last call. */
  #deleted(): IdRange[] {
    const ranges: IdRange[] = []
    for (const [client, deletions] of this.#transaction.deleteSet.clients) {
      for (const { clock, len } of deletions.slice(this.#deletions.get(client) ?? 0))
        if (!this.#isNew({ client, clock })) ranges.push({ client, clock, length: len })
      this.#deletions.set(client, deletions.length)
    }
    return ranges
  }

  /** Returns whether a deleted range is an element of an array that still exists. */
  #isElement = ({ client, clock }: IdRange): boolean => {
    const { store } = this.#transaction.doc
    const { parent, parentSub, countable } = Y.getItem(store, Y.createID(client, clock))
    if (parentSub !== null || !countable || !(parent instanceof Y.AbstractType)) return false
    return parent._item === null || (parent instanceof Y.Array && !parent._item.deleted)
  }

  #inserted(): InsertedRun[] {
    const { store } = this.#transaction.doc
    if (Y.getState(store, this.#client) === this.#firstClock) return []
    const structs = store.clients.get(this.#client) ?? []
    const runs: InsertedRun[] = []
    const seen = new Set<Y.Item>()
    for (let index = Y.findIndexSS(structs, this.#firstClock); index < structs.length; index++) {
      const item = structs[index]
      if (!(item instanceof Y.Item) || item.deleted || seen.has(item)) continue
      const { parent, parentSub } = item
      if (!(parent instanceof Y.AbstractType) || (parent._item !== null && this.#isNew(parent._item.id)))
        continue
      const parentId = parent._item === null ? this.#contentKey : idOf(parent._item)
      const edit = this.#editOf(item)
      const place = { edit, parent: parentId, key: parentSub, left: null, right: null }
      if (parentSub === null) runs.push({ ...place, ...this.#runAround(item, seen) })
      else runs.push({ ...place, form: formOfItem(item), isCountable: true })
    }
    return runs
  }

  #runAround(item: Y.Item, seen: Set<Y.Item>): Pick<InsertedRun, 'left' | 'right' | 'form' | 'isCountable'> {
    let first = item
    while (first.left !== null && this.#isNew(first.left.id)) first = first.left
    const forms: string[] = []
    let isCountable = false
    let right: Y.Item | null = first
    for (; right !== null && this.#isNew(right.id); right = right.right) {
      seen.add(right)
      if (right.deleted) continue
      forms.push(formOfItem(right))
      isCountable ||= right.countable
    }
    return {
      left: first.left === null ? null : endOf(first.left),
      right: right === null ? null : idOf(right),
      form: forms.join(''),
      isCountable,
    }
  }

  #editOf = ({ id }: Y.Item): number =>
    firstIndex(this.#clocks.length - 1, (index) => (this.#clocks[index] as number) > id.clock)

  #isNew = ({ client, clock }: StoredId): boolean => client === this.#client && clock >= this.#firstClock
}

const endOf = ({ lastId: { client, clock } }: Y.Item): StoredId => ({ client, clock })

const isOfPath = (edit: Edit): boolean =>
  (edit.is === 'replace' || edit.is === 'remove') && edit.target.is === 'path'

/** Returns whether an edit adds elements or text without replacing anything. */
const isInsertion = (edit: Edit): boolean =>
  edit.is === 'insert' ||
  (edit.is === 'text' && edit.deletions === 0) ||
  (edit.is === 'patch' && edit.operations.some(({ op }) => op === 'add' || op === 'copy'))

/** Returns the ids of the content between two offsets of a piece. */
function* rangesOf(piece: FlowPiece, from: number, to: number): Generator<IdRange> {
  if (piece.source === null) {
    yield rangeOfItem(piece.item)
    return
  }
  const [start, end] = [piece.from + from, piece.from + to]
  let at = 0
  for (let item = piece.source.type._start; item !== null && at < end; item = item.right) {
    if (item.deleted || !(item.content instanceof Y.ContentString)) continue
    const first = Math.max(0, start - at)
    const last = Math.min(item.length, end - at)
    if (first < last) yield { client: item.id.client, clock: item.id.clock + first, length: last - first }
    at += item.length
  }
}
