import { randomInt } from 'node:crypto'
import * as Y from 'yjs'
import { ApiError } from '../../base/errors.ts'
import { deletedRanges } from '../../update/deletions.ts'
import { type IdRange, withoutIds } from '../../update/range-index.ts'
import { FreshCopy } from '../fresh-copy.ts'
import { putItem } from '../values/write-edits.ts'
import { noGuid } from '../yjs/create-doc.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { gcOf, type Struct, updateOf } from '../yjs/struct-bytes.ts'
import { type Archive, copyClientMin, type Generations } from './generations.ts'

/** Number of client ids from which that of a copy is chosen. Two restored copies of one document differ in it. */
const copyClients = 2 ** 32

/** Number of client ids from which that of the first items is chosen, unless the document has a smaller one. */
const edgeClients = 65_536

export interface PrunedState {
  /** The update (V1) that deletes the content in clients and inserts the copy. */
  readonly update: Uint8Array
  /** The whole state (V1), in which the replaced ids have no content. */
  readonly state: Uint8Array
  readonly archive: Archive
}

/**
 * Returns a client id for copies that a document does not have. It is greater than all ids of its clients; null if their
 * ids are too large for this.
 */
export function newCopyClient(clocks: ReadonlyMap<number, number>): number | null {
  let max = copyClientMin
  for (const client of clocks.keys()) max = Math.max(max, client)
  return max < Number.MAX_SAFE_INTEGER - copyClients ? max + 1 + randomInt(copyClients) : null
}

/**
 * Replaces the content of a document with a copy under one new client id. No item of the copy refers to a replaced id,
 * so that the state needs no replaced item.
 *
 * Clients keep the replaced items. So that their later edits do not refer to these, each sequence has a deleted item at
 * both ends of them: one before all items, which later prunes keep, and one before the copy.
 */
export function pruneState(bytes: Uint8Array, generations: Generations): PrunedState {
  const doc = new Y.Doc(noGuid)
  Y.applyUpdate(doc, bytes)
  const clocks = Y.decodeStateVector(Y.encodeStateVector(doc))
  const edge = generations.edge === -1 ? newEdge(clocks) : generations.edge
  const kept = clocks.get(edge) ?? 0
  if (edge >= 0) putEdges(doc, edge)
  const client = newCopyClient(clocks)
  if (client === null)
    throw new ApiError(
      'crdt/unsupported-content',
      'the editor has Yjs client ids that leave none for a copy; copy it to another editor',
    )
  const copy = new FreshCopy(doc, client, putLead)
  copy.doc.transact(putMark)
  const copied = Y.decodeUpdate(Y.encodeStateAsUpdate(copy.doc))
  const edges = structsOf(doc, edge)
  const old = [...clocks]
    .filter(([other]) => other !== edge)
    .map(([other, length]): IdRange => ({ client: other, clock: 0, length }))
  const edgeIds = { client: edge, clock: 0, length: Y.getState(doc.store, edge) }
  const deleted = [...old, ...deletedRanges(copied.ds), ...(edgeIds.length > 0 ? [edgeIds] : [])]
  const state = new Y.Doc(noGuid)
  Y.applyUpdate(state, updateOf([...old.map(gcOf), ...edges, ...copied.structs], deleted))
  return {
    update: updateOf([...edges.filter(({ id }) => id.clock >= kept), ...copied.structs], deleted),
    state: Y.encodeStateAsUpdate(state),
    archive: {
      client,
      edge,
      generation: generations.count + 1,
      copies: copy.ids.map((each) => ({ ...each, inside: 0 })),
      refersTo: [],
      old: withoutIds(
        old,
        generations.archives.flatMap((each) => each.old),
      ),
    },
  }
}

/** Returns a client id that is smaller than those of the document; -1 if there is none. */
function newEdge(clocks: ReadonlyMap<number, number>): number {
  let max = edgeClients
  for (const client of clocks.keys()) max = Math.min(max, client)
  return max === 0 ? -1 : randomInt(max)
}

/** Inserts a deleted item at the start of each sequence that has none yet. */
function putEdges(doc: Y.Doc, edge: number): void {
  doc.clientID = edge
  doc.transact((transaction) => {
    for (const root of doc.share.values())
      if (root._start !== null && !hasEdge(root, edge)) putDeleted(transaction, root)
  })
}

function hasEdge(root: SharedRoot, edge: number): boolean {
  for (let item = root._start; item !== null; item = item.right) if (item.id.client === edge) return true
  return false
}

function putLead(transaction: Y.Transaction, type: SharedRoot, source: SharedRoot): Y.Item | null {
  putMark(transaction)
  // A later entry of a deleted key must follow an item of the copy. Otherwise its place beside the replaced items, which
  // only some clients have, would depend on its client id.
  for (const [key, last] of source._map) if (last.deleted) putDeleted(transaction, type, key)
  return source._start === null ? null : putDeleted(transaction, type)
}

const putDeleted = (transaction: Y.Transaction, type: SharedRoot, key: string | null = null): Y.Item =>
  putItem(transaction, { type, key, left: null, right: null }, new Y.ContentDeleted(1))

/** Uses the first id of a copy, unless it is used. Clients that have received the copy send it with their deletions. */
function putMark(transaction: Y.Transaction): void {
  const { clientID, store } = transaction.doc
  const mark = { client: clientID, clock: 0, length: 1 }
  if (Y.getState(store, clientID) === 0) gcOf(mark).integrate(transaction, 0)
}

const structsOf = (doc: Y.Doc, client: number): readonly Struct[] => doc.store.clients.get(client) ?? []
