import { Button } from '../../ui/controls.tsx'
import type { AuthorId, AuthorStyle } from './author-colors.ts'
import { describePoint, type TimelinePoint } from './timeline-points.ts'

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
export function Timeline({ points, selected, styles, onSelect }: TimelineProps) {
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
