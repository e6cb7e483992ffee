import * as Y from 'yjs'
import { mergeUpdate } from '../merge/merge-update.ts'
import { bounded } from '../merge/overlap.ts'
import { noReplacement, type RootReplacement } from '../yjs/root-replacement.ts'
import type { BranchOverlap } from './branch-overlaps.ts'
import { commonState } from './common-state.ts'

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
