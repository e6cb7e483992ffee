import { useState } from 'preact/hooks'
import { Button, Checkbox } from '../../ui/controls.tsx'
import { describeError } from '../../ui/format.ts'
import { lazy } from '../../ui/lazy.tsx'
import { Notice, Reading } from '../../ui/notice.tsx'
import {
  type AuthorId,
  type AuthorStyle,
  authorName,
  authorStyles,
  type ChangeSetEntry,
  originInWords,
} from '../authorship/authors.ts'
import type { EditorAddress } from '../editor.ts'
import { HereNow } from '../live/here-now.tsx'
import type { LiveDocument } from '../live/live-document.ts'
import { comparisonLens, type Moments, momentLens, type StepOrigin, undoLens } from './moments.ts'
import { PageContent } from './page-content.tsx'
import type { Passage } from './page-writer.tsx'
import { MomentSlider, Playback } from './playback.tsx'
import { useHistory } from './use-history.ts'

export { EditorUsers } from './editor-users.tsx'

const UndoCard = lazy(async () => (await import('../authorship/undo-card.tsx')).UndoCard)

/** An undo that the user considers. It covers one change, or all changes of an author. */
interface ConsideredUndo {
  readonly author: string
  readonly change: StepOrigin | null
  /** The whole change, as the server has it. */
  readonly found?: ChangeSetEntry
}

interface DocumentPageProps {
  readonly address: EditorAddress
  readonly live: LiveDocument
}

/** Shows an editor as a page, with its authors, its cursors and all its moments. */
export function DocumentPage({ address, live }: DocumentPageProps) {
  const { history, error, reload } = useHistory(address, live)
  const [moment, setMoment] = useState<number | null>(null)
  /** The earlier and the later moment of a comparison; null: no comparison. */
  const [compared, setCompared] = useState<readonly [number, number] | null>(null)
  const [only, setOnly] = useState<AuthorId | undefined>(undefined)
  const [selected, setSelected] = useState<Passage | null>(null)
  const [undoing, setUndoing] = useState<ConsideredUndo | null>(null)
  if (history === null) return <Reading />
  const { doc, moments } = history
  const { present, steps } = moments
  const styles = authorStyles(steps.map(({ userId }) => userId))
  const shared = { doc, moments, styles, only, selected, onSelect: setSelected, people: null }
  const shown = Math.min(moment ?? present, present)
  const consider = (undo: ConsideredUndo) => {
    setMoment(null)
    setCompared(null)
    setSelected(null)
    setUndoing(undo)
  }
  return (
    <>
      {error !== null && <Notice>Authors and playback are not available. {describeError(error)}</Notice>}
      {compared === null ? (
        <Playback {...{ moments, styles, moment }} onMoment={setMoment} />
      ) : (
        <section class="card playback" aria-label="Comparison">
          {(['Earlier', 'Later'] as const).map((label, side) => (
            <MomentSlider
              key={label}
              {...{ label, moments, styles }}
              moment={compared[side] ?? present}
              onMoment={(to) => setCompared(moved(compared, side, to))}
            />
          ))}
        </section>
      )}
      <div class="row between reader-bar">
        <Legend {...{ moments, styles, only }} onOnly={setOnly} />
        <Checkbox
          label="Compare two moments"
          checked={compared !== null}
          onChange={(isOn) => {
            setUndoing(null)
            setCompared(isOn ? [Math.min(shown, Math.max(0, present - 1)), present] : null)
          }}
        />
      </div>
      <HereNow {...{ doc, steps }} people={live.people.all()} />
      {undoing !== null && (
        <UndoCard
          key={JSON.stringify([undoing.author, undoing.change])}
          {...{ address, author: undoing.author, change: undoing.change }}
          onFound={(found) => setUndoing({ ...undoing, found })}
          onUndone={reload}
          onClose={() => setUndoing(null)}
        />
      )}
      {only != null && undoing === null && (
        <p>
          <Button onClick={() => consider({ author: only, change: null })}>
            Undo all changes of {authorName(only)}…
          </Button>
        </p>
      )}
      {compared !== null ? (
        <div class="panes">
          <PageContent {...shared} label="Earlier moment" lens={comparisonLens(...compared, 'removed')} />
          <PageContent
            {...shared}
            label="Later moment"
            lens={comparisonLens(compared[1], compared[0], 'added')}
          />
        </div>
      ) : (
        <PageContent
          {...shared}
          label="Document"
          only={undoing === null ? only : undefined}
          lens={undoing === null ? momentLens(shown) : undoLens(present, isUndone(undoing))}
          people={moment === null ? live.people : null}
        />
      )}
      {selected === null ? (
        <p class="hint">Click a passage, or select one with the arrow keys, to see who wrote it.</p>
      ) : (
        <PassageCard
          passage={selected}
          style={styles.get(selected.inserter?.userId ?? null)}
          onMoment={(change) => {
            setCompared(null)
            setUndoing(null)
            setMoment(moments.momentOf(change))
          }}
          onUndo={consider}
          onClose={() => setSelected(null)}
        />
      )}
    </>
  )
}

/** Moves one side of a comparison. The other side moves with it, so that the earlier moment stays the earlier one. */
const moved = ([from, to]: readonly [number, number], side: number, moment: number): [number, number] =>
  side === 0 ? [moment, Math.max(moment, to)] : [Math.min(moment, from), moment]

const isUndone =
  ({ author, change, found }: ConsideredUndo) =>
  (origin: StepOrigin | null): boolean => {
    if (origin?.userId !== author) return false
    if (change === null) return true
    if (causeOf(origin) !== causeOf(change)) return false
    return (
      (found?.firstAt ?? change.at ?? '') <= (origin.at ?? '') &&
      (origin.at ?? '') <= (found?.lastAt ?? change.at ?? '')
    )
  }

const causeOf = ({ source, meta }: StepOrigin): string => JSON.stringify([source, meta])

interface LegendProps {
  readonly moments: Moments
  readonly styles: ReadonlyMap<AuthorId, AuthorStyle>
  readonly only: AuthorId | undefined
  readonly onOnly: (author: AuthorId | undefined) => void
}

const Legend = ({ moments, styles, only, onOnly }: LegendProps) => (
  <ul class="legend" aria-label="Authors">
    {[...new Set(moments.steps.map(({ userId }) => userId))].map((author) => (
      <li key={author}>
        <button
          type="button"
          class="author"
          style={styles.get(author)}
          aria-pressed={only === author}
          onClick={() => onOnly(only === author ? undefined : author)}
        >
          {authorName(author)}
        </button>
      </li>
    ))}
  </ul>
)

interface PassageProps {
  readonly passage: Passage
  readonly style: AuthorStyle | undefined
  readonly onMoment: (change: StepOrigin) => void
  readonly onUndo: (undo: ConsideredUndo) => void
  readonly onClose: () => void
}

const excerptMax = 120

/** Shows who wrote a passage, when, and by which call. */
function PassageCard({
  passage: { inserter, deleter, text },
  style,
  onMoment,
  onUndo,
  onClose,
}: PassageProps) {
  const author = inserter?.userId ?? null
  return (
    <section class="card passage" aria-label="Selected passage" aria-live="polite">
      <p>
        <span class="author" style={style}>
          {text.length > excerptMax ? `${text.slice(0, excerptMax)}…` : text}
        </span>
      </p>
      <p>{inserter === null ? 'The author is unknown.' : `By ${originInWords(inserter)}.`}</p>
      {deleter !== null && <p>Deleted by {originInWords(deleter)}.</p>}
      <p class="row">
        {inserter !== null && <Button onClick={() => onMoment(inserter)}>Show this moment</Button>}
        {inserter !== null && author !== null && (
          <Button onClick={() => onUndo({ author, change: inserter })}>Undo this change…</Button>
        )}
        <Button onClick={onClose}>Close</Button>
      </p>
    </section>
  )
}
