import type * as Y from 'yjs'
import type { IdRange } from '../yjs/range-index.ts'
import type { RootReplacement } from '../yjs/root-replacement.ts'
import { BranchComparison, type BranchHunk } from './branch-hunks.ts'
import type { DecidedHunks, HunkDecision, HunkReference } from './hunk-decision.ts'
import { transplant } from './transplant.ts'

/** The result of a decision, as the result of a replacement. */
type HunkResult = RootReplacement & { readonly hunks: DecidedHunks }

/**
 * Makes a decision on hunks, in one transaction.
 * @param doc the document that changes; @param state its whole state (V1)
 */
export function decideHunks(doc: Y.Doc, state: Uint8Array, { is, other, hunkIds }: HunkDecision): HunkResult {
  const [main, branch] = is === 'accept' ? [state, other] : [other, state]
  const comparison = new BranchComparison(main, branch)
  try {
    const { chosen, ...left } = choose(comparison.hunks, is, new Set(hunkIds))
    const inserted = chosen.flatMap(({ ranges }) => ranges.inserted)
    const deleted = chosen.flatMap(({ ranges }) => ranges.deleted)
    const [copied, removed] = is === 'accept' ? [inserted, deleted] : [deleted, inserted]
    const version = is === 'accept' ? 'to' : 'from'
    if (chosen.length > 0) transplant(doc, { reader: comparison.reader, version, copied, deleted: removed })
    return {
      changed: chosen.length > 0,
      insertions: lengthOf(copied),
      deletions: lengthOf(removed),
      hunks: { decided: chosen.map(toDecided), ...left },
    }
  } finally {
    comparison.destroy()
  }
}

interface HunkChoice extends Omit<DecidedHunks, 'decided'> {
  readonly chosen: readonly BranchHunk[]
}

/** Selects hunks. A hunk is left out if it needs another hunk that is not selected. */
function choose(
  hunks: readonly BranchHunk[],
  is: HunkDecision['is'],
  wanted: ReadonlySet<string>,
): HunkChoice {
  const present = new Set(hunks.map(({ hunkId }) => hunkId))
  const selected = hunks.filter(({ hunkId }) => wanted.has(hunkId))
  const needs = (hunk: BranchHunk): readonly string[] =>
    (is === 'accept' ? hunk.dependsOn : dependentsOf(hunk, hunks)).filter((id) => !wanted.has(id))
  return {
    chosen: selected.filter((hunk) => needs(hunk).length === 0),
    unknown: [...wanted].filter((id) => !present.has(id)),
    dependent: selected.flatMap((hunk) => {
      const missing = needs(hunk)
      return missing.length === 0 ? [] : [{ hunkId: hunk.hunkId, needs: missing }]
    }),
  }
}

const dependentsOf = ({ hunkId }: BranchHunk, hunks: readonly BranchHunk[]): readonly string[] =>
  hunks.filter(({ dependsOn }) => dependsOn.includes(hunkId)).map((other) => other.hunkId)

const toDecided = ({ hunkId, ranges }: BranchHunk): HunkReference => ({
  hunkId,
  replaceable: ranges.replaceable,
})

const lengthOf = (ranges: readonly IdRange[]): number => ranges.reduce((sum, { length }) => sum + length, 0)
