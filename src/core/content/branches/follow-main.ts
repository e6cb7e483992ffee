import * as Y from 'yjs'
import { addTo } from '../../base/maps.ts'
import { deletedRanges } from '../../update/deletions.ts'
import { type IdRange, RangeIndex } from '../../update/range-index.ts'
import { contentPart } from '../copies/copy-content.ts'
import { mergeUpdate } from '../merge/merge-update.ts'
import { bounded } from '../merge/overlap.ts'
import { noReplacement, type RootReplacement } from '../yjs/root-replacement.ts'
import { updateOf } from '../yjs/struct-bytes.ts'
import type { BranchOverlap } from './branch-overlaps.ts'

/** Changes of a main editor that its branch takes in. */
export interface MainChanges {
  /**
   * The whole state (V1) of the main editor that the branch has taken in before; null if it is not known. `updates` is
   * then the whole state of the main editor.
   */
  readonly base: Uint8Array | null
  /** The updates (V1) of the main editor after it. The branch may have some of them. */
  readonly updates: readonly Uint8Array[]
}

interface FollowResult extends RootReplacement {
  /** Places that the branch and its main editor have both changed. */
  readonly branchOverlaps?: readonly BranchOverlap[]
}

/**
 * Applies changes of the main editor to a branch. Words and values that the branch has also changed keep the side of
 * the branch, so that no word consists of letters of both.
 * @param doc the branch; @param state its whole state (V1)
 */
export function followMain(doc: Y.Doc, state: Uint8Array, { base, updates }: MainChanges): FollowResult {
  const present = Y.snapshot(doc)
  // The branch can have made the deletions of an update without insertions itself.
  const isKnown = (update: Uint8Array): boolean =>
    update[0] !== 0 && Y.snapshotContainsUpdate(present, update)
  const missing = updates.filter((update) => !isKnown(update))
  if (missing.length === 0) return noReplacement
  const update = Y.mergeUpdates(missing)
  const common =
    base === null ? commonState(update, state) : Y.mergeUpdates([base, ...updates.filter(isKnown)])
  const { overlaps, places } = mergeUpdate(
    doc,
    { base: common, theirs: state, update },
    { kept: 'theirs', repeatsInsertions: false, shared: 'mine' },
  )
  const branchOverlaps = overlaps.map((overlap, at) => {
    const { kept: _kept, theirs: mine, mine: theirs, ...place } = bounded(overlap)
    const sides = { ...(theirs !== undefined && { theirs }), ...(mine !== undefined && { mine }) }
    return { ...place, ...sides, ids: places[at] ?? [] }
  })
  return { ...noReplacement, changed: true, branchOverlaps }
}

type Struct = Y.Item | Y.GC

/**
 * Returns the state (V1) that a branch and its main editor have in common: the items of both. An item is live if one of
 * them has not deleted it. The content that both have deleted is lost.
 * @param main @param branch whole states (V1)
 */
function commonState(main: Uint8Array, branch: Uint8Array): Uint8Array {
  const [ofMain, ofBranch] = [Y.decodeUpdate(main), Y.decodeUpdate(branch)]
  const others = structsOf(ofBranch.structs)
  const common = [...structsOf(ofMain.structs)].flatMap(([client, structs]) =>
    commonStructs(structs, others.get(client) ?? []),
  )
  return updateOf(common, intersection(deletedRanges(ofMain.ds), deletedRanges(ofBranch.ds)))
}

function structsOf(structs: readonly (Struct | Y.Skip)[]): ReadonlyMap<number, readonly Struct[]> {
  const clients = new Map<number, Struct[]>()
  for (const struct of structs) {
    if (struct instanceof Y.Skip) continue
    addTo(clients, struct.id.client, struct)
  }
  return clients
}

/** Returns the structs of the clocks that both lists have, each from the list that has more of its content. */
function commonStructs(a: readonly Struct[], b: readonly Struct[]): readonly Struct[] {
  const parts: Struct[] = []
  for (let clock = 0, i = 0, j = 0; ; ) {
    const [x, y] = [a[i], b[j]]
    if (x === undefined || y === undefined) return parts
    const end = Math.min(endOf(x), endOf(y))
    parts.push(partOf(contentRank(x) >= contentRank(y) ? x : y, clock, end))
    if (endOf(x) === end) i += 1
    if (endOf(y) === end) j += 1
    clock = end
  }
}

const endOf = ({ id, length }: Struct): number => id.clock + length

function contentRank(struct: Struct): number {
  if (!(struct instanceof Y.Item)) return 0
  return struct.content instanceof Y.ContentDeleted ? 1 : 2
}

function partOf(struct: Struct, from: number, to: number): Struct {
  const { id, length } = struct
  if (from === id.clock && to === id.clock + length) return struct
  const start = Y.createID(id.client, from)
  if (!(struct instanceof Y.Item)) return new Y.GC(start, to - from)
  const offset = from - id.clock
  const content =
    struct.content instanceof Y.ContentDeleted
      ? new Y.ContentDeleted(to - from)
      : contentPart(struct.content, offset, to - from)
  const origin = offset === 0 ? struct.origin : Y.createID(id.client, from - 1)
  return new Y.Item(start, null, origin, null, struct.rightOrigin, struct.parent, struct.parentSub, content)
}

function intersection(a: Iterable<IdRange>, b: Iterable<IdRange>): readonly IdRange[] {
  const index = RangeIndex.of(b)
  const common: IdRange[] = []
  for (const each of a)
    for (const { range, ...part } of index.parts(each)) if (range !== null) common.push(part)
  return common
}
