import type {
  CrdtBranchesDiffData,
  CrdtBranchesDiffDataHunksItem,
  CrdtBranchesMergeData,
  EditorBranch,
} from '../../../client/api/operation-types.ts'
import { useAction, useApi, useQuery } from '../../api/hooks.ts'
import { Button } from '../../ui/controls.tsx'
import { ConfirmButton, FocusedCard } from '../../ui/dialog.tsx'
import { formatCounted, formatTime } from '../../ui/format.ts'
import { ActionOutcome, EmptyNotice, ReadState } from '../../ui/notice.tsx'
import { authorName, authorStyles } from '../authorship/authors.ts'
import { HunkParts } from '../authorship/hunk-list.tsx'
import { consoleUser, type EditorAddress } from '../editor.ts'

interface ReviewProps {
  /** Address of the editor from which the branch was created. */
  readonly address: EditorAddress
  readonly branch: EditorBranch
  readonly onDecided: () => void
  readonly onClose: () => void
}

type Decision = 'merge' | 'reject'

const results = { merge: 'Accepted', reject: 'Rejected' } as const

/** Shows the differences of a branch. The user accepts or rejects them, one by one or all. */
export function BranchReview({ address, branch, onDecided, onClose }: ReviewProps) {
  const api = useApi()
  const { name } = branch
  const { data, error, loading, reload } = useQuery<CrdtBranchesDiffData>('/v2/crdt/branches/diff', {
    ...address,
    name,
  })
  const hunks = data?.hunks ?? []
  const request = { ...address, name, userId: consoleUser.id }
  const decision = useAction(async (kind: Decision, hunkIds: readonly string[]) => {
    const path = `/v2/crdt/branches/${kind}`
    const { decided } = await api.call<CrdtBranchesMergeData>(path, { ...request, hunks: hunkIds })
    reload()
    if (decided.length === 0) return 'Nothing was decided, because the branch has changed meanwhile.'
    return `${results[kind]}: ${formatCounted(decided.length, 'change')}.`
  })
  /** Decides all changes, which also closes the branch. */
  const decideAll = async (kind: Decision) => {
    await api.call(`/v2/crdt/branches/${kind}`, request)
    onDecided()
    onClose()
  }
  const isOpen = branch.status === 'open'
  const styles = authorStyles(hunks.flatMap(({ userIds }) => userIds))
  return (
    <FocusedCard label={`Review of ${name}`}>
      <h3>Changes of the branch {name}</h3>
      <ReadState error={error} loading={loading && data === null} />
      <ActionOutcome error={decision.error} done={decision.done} />
      {data !== null && hunks.length === 0 && <EmptyNotice>The branch has no changes.</EmptyNotice>}
      {data?.truncated === true && (
        <p class="hint">The branch has more changes. They appear when you have decided these.</p>
      )}
      <ol class="hunks">
        {hunks.map((hunk, index) => (
          <li key={hunk.hunkId} class="hunk">
            <p class="row between">
              <span>
                <strong>Change {index + 1}</strong>{' '}
                {(hunk.userIds.length === 0 ? [null] : hunk.userIds).map((author) => (
                  <span key={author}>
                    <span class="author" style={styles.get(author ?? '')}>
                      {authorName(author)}
                    </span>{' '}
                  </span>
                ))}
                <span class="name">{formatTime(hunk.at)}</span>
              </span>
              {isOpen && (
                <span class="row">
                  {(['merge', 'reject'] as const).map((kind) => (
                    <Button
                      key={kind}
                      busy={decision.busy}
                      label={`${labels[kind]} change ${index + 1}`}
                      onClick={() => void decision.run(kind, withNeeded(kind, hunk, hunks))}
                    >
                      {labels[kind]}
                    </Button>
                  ))}
                </span>
              )}
            </p>
            <HunkParts hunk={hunk} />
            {hunk.dependsOn.length > 0 && (
              <p class="hint">
                Belongs together with {placesOf(hunk, hunks)}: if you accept this change, those are accepted
                as well.
              </p>
            )}
          </li>
        ))}
      </ol>
      <p class="row">
        {isOpen && hunks.length > 0 && (
          <ConfirmButton
            action="Accept all"
            title={`Accept all changes of ${name}?`}
            harmless
            act={() => decideAll('merge')}
          >
            <p>The editor {branch.editorId} gets all changes. The branch is then merged and read-only.</p>
          </ConfirmButton>
        )}
        {isOpen && (
          <ConfirmButton
            action="Reject the branch"
            title={`Reject the branch ${name}?`}
            act={() => decideAll('reject')}
          >
            <p>The branch is then read-only. Its content stays until you delete the branch.</p>
          </ConfirmButton>
        )}
        <Button onClick={reload}>Read again</Button>
        <Button onClick={onClose}>Close</Button>
      </p>
    </FocusedCard>
  )
}

const labels = { merge: 'Accept', reject: 'Reject' } as const

/**
 * Returns the ids of a hunk and of the hunks that must be decided with it: an accepted hunk needs the hunks on
 * which it depends, and a rejected hunk takes those with it that depend on it.
 */
function withNeeded(
  kind: Decision,
  hunk: CrdtBranchesDiffDataHunksItem,
  hunks: readonly CrdtBranchesDiffDataHunksItem[],
): readonly string[] {
  const ids = new Set([hunk.hunkId])
  // A set visits the ids that are added while it is read.
  for (const id of ids)
    for (const each of hunks) {
      if (kind === 'merge' && each.hunkId === id) for (const needed of each.dependsOn) ids.add(needed)
      if (kind === 'reject' && each.dependsOn.includes(id)) ids.add(each.hunkId)
    }
  return [...ids]
}

/** Describes the places of the hunks on which a hunk depends, for example `change 1, change 3`. */
const placesOf = (
  { dependsOn }: CrdtBranchesDiffDataHunksItem,
  hunks: readonly CrdtBranchesDiffDataHunksItem[],
): string => dependsOn.map((id) => `change ${hunks.findIndex(({ hunkId }) => hunkId === id) + 1}`).join(', ')
