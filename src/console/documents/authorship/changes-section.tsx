import { useState } from 'preact/hooks'
import type { CrdtChangesData, SavedVersion } from '../../../client/api/operation-types.ts'
import { usePagedQuery } from '../../api/hooks.ts'
import { Button } from '../../ui/controls.tsx'
import { ReadState } from '../../ui/notice.tsx'
import { type EditorAddress, versionTitle } from '../editor.ts'
import {
  type AuthorId,
  type AuthorStyle,
  authorName,
  authorStyles,
  type ChangeSetEntry,
  describeCounts,
  describePoint,
  originInWords,
  type TimelinePoint,
  timelineOf,
} from './authors.ts'
import { HunkList } from './hunk-list.tsx'
import { UndoCard } from './undo-card.tsx'

interface ChangesProps {
  readonly address: EditorAddress
  readonly range: { readonly from: string; readonly to?: string }
  readonly versions: readonly SavedVersion[]
  readonly setFrom: (versionId: string) => void
  readonly setTo: (versionId: string) => void
  /** Called when the content may have changed. */
  readonly onChanged: () => void
}

/** Shows the changes between two versions on a timeline, and lets the user undo them. */
export function ChangesSection({ address, range, versions, setFrom, setTo, onChanged }: ChangesProps) {
  const listing = usePagedQuery<ChangeSetEntry, CrdtChangesData>(
    '/v2/crdt/changes',
    { ...address, ...range },
    { itemsOf: ({ changes }) => changes },
  )
  const { items: changes, error, loading, more, reload } = listing
  const [selected, setSelected] = useState(0)
  const [undoing, setUndoing] = useState<ChangeSetEntry | null>(null)
  const styles = authorStyles(changes.map(({ userId }) => userId))
  const points = timelineOf(within(versions, range), changes)
  const position = Math.min(selected, points.length - 1)
  const point = points[position]
  const readAgain = () => {
    reload()
    onChanged()
  }
  return (
    <>
      <h3>Changes</h3>
      <ReadState error={error} loading={loading} />
      {points.length > 0 && (
        <Timeline points={points} selected={position} styles={styles} onSelect={setSelected} />
      )}
      <p class="row">
        {more !== null && <Button onClick={more}>Later changes</Button>}
        <Button onClick={readAgain}>Read again</Button>
      </p>
      {point?.kind === 'version' && (
        <section class="card" aria-label="Selected version">
          <h3>Saved version: {versionTitle(point.version)}</h3>
          <p class="row">
            <Button onClick={() => setFrom(point.version.versionId)}>Start here</Button>
            <Button onClick={() => setTo(point.version.versionId)}>End here</Button>
          </p>
        </section>
      )}
      {point?.kind === 'change' && (
        <ChangeCard
          change={point.change}
          style={styles.get(point.change.userId)}
          onUndo={() => setUndoing(point.change)}
        />
      )}
      {undoing !== null && (
        <UndoCard
          key={undoing.changeId}
          {...{ address, range }}
          change={undoing}
          onUndone={readAgain}
          onClose={() => setUndoing(null)}
        />
      )}
    </>
  )
}

interface SelectedChangeProps {
  readonly change: ChangeSetEntry
  readonly style: AuthorStyle | undefined
  readonly onUndo: () => void
}

const ChangeCard = ({ change, style, onUndo }: SelectedChangeProps) => (
  <section class="card" aria-label="Selected change">
    <h3>
      <span class="author" style={style}>
        {authorName(change.userId)}
      </span>
      : {describeCounts(change)}
    </h3>
    <p class="hint">{originInWords({ ...change, at: change.lastAt })}</p>
    <HunkList hunks={change.hunks} />
    {change.truncated && <p class="hint">This change has more parts than the page shows.</p>}
    <Button label={`Undo the change of ${authorName(change.userId)}…`} onClick={onUndo}>
      Undo…
    </Button>
  </section>
)

/** Returns the versions between two versions, both included. */
function within(
  versions: readonly SavedVersion[],
  { from, to }: ChangesProps['range'],
): readonly SavedVersion[] {
  const timeOf = (id: string | undefined, otherwise: number): number => {
    const version = versions.find(({ versionId }) => versionId === id)
    return version === undefined ? otherwise : Date.parse(version.createdAt)
  }
  const [first, last] = [timeOf(from, 0), timeOf(to, Number.POSITIVE_INFINITY)]
  return versions.filter(({ createdAt }) => Date.parse(createdAt) >= first && Date.parse(createdAt) <= last)
}

interface TimelineProps {
  readonly points: readonly TimelinePoint[]
  /** Index of the selected point. */
  readonly selected: number
  readonly styles: ReadonlyMap<AuthorId, AuthorStyle>
  readonly onSelect: (index: number) => void
}

/**
 * Shows the points in the order of time, and a scrubber that selects one. The arrow keys move the scrubber.
 */
function Timeline({ points, selected, styles, onSelect }: TimelineProps) {
  const point = points[selected]
  return (
    <div class="timeline card">
      <div class="ticks" aria-hidden="true">
        {points.map((each, index) => (
          <span
            key={each.id}
            class={`tick ${each.kind === 'version' ? 'saved' : 'author'}${index === selected ? ' selected' : ''}`}
            style={each.kind === 'version' ? undefined : styles.get(each.change.userId)}
            title={describePoint(each)}
          />
        ))}
      </div>
      <input
        type="range"
        aria-label="Timeline"
        min={0}
        max={points.length - 1}
        step={1}
        value={selected}
        aria-valuetext={point === undefined ? '' : describePoint(point)}
        onInput={({ currentTarget }) => onSelect(Number(currentTarget.value))}
      />
      <p class="row between">
        <Button disabled={selected === 0} onClick={() => onSelect(selected - 1)}>
          Previous
        </Button>
        <span>{point !== undefined && describePoint(point)}</span>
        <Button disabled={selected >= points.length - 1} onClick={() => onSelect(selected + 1)}>
          Next
        </Button>
      </p>
    </div>
  )
}
