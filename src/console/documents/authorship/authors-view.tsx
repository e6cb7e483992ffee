import { useState } from 'preact/hooks'
import type { CrdtGetDataItem } from '../../../client/api/operation-types.ts'
import { useQuery } from '../../api/hooks.ts'
import { Button } from '../../ui/controls.tsx'
import { formatCounted } from '../../ui/format.ts'
import { EmptyNotice, ErrorNotice, Notice } from '../../ui/notice.tsx'
import type { EditorViewProps } from '../editor.ts'
import { useRoot } from '../fields.tsx'
import {
  type AttributedEntry,
  type AuthorId,
  authorName,
  authorStyles,
  originInWords,
  toLines,
  unitsByAuthor,
} from './authors.ts'

/** Maximum number of runs that are shown at first. Each run is an element of the page. */
const pageRuns = 2_000

/** Shows the content of a root, with a color for each author. */
export function AuthorsView({ address, roots }: EditorViewProps) {
  const [contentKey, rootField] = useRoot(roots)
  const { data, error, reload } = useQuery<readonly CrdtGetDataItem[]>('/v2/crdt/get', {
    ...address,
    contentKey,
    attribution: true,
  })
  const content = data?.[0]
  return (
    <>
      <h2>Authors</h2>
      <div class="row">
        {rootField}
        <Button onClick={reload}>Read again</Button>
      </div>
      <ErrorNotice error={error} />
      {content?.attributionTruncated === true && (
        <Notice>The content is long, so the page shows only the authors of its first part.</Notice>
      )}
      {content !== undefined && <Authored key={contentKey} runs={content.attribution ?? []} />}
    </>
  )
}

function Authored({ runs }: { readonly runs: readonly AttributedEntry[] }) {
  /** The author whose content is emphasized; undefined: all authors. */
  const [only, setOnly] = useState<AuthorId | undefined>(undefined)
  const [limit, setLimit] = useState(pageRuns)
  const units = unitsByAuthor(runs)
  const styles = authorStyles(units.keys())
  if (runs.length === 0) return <EmptyNotice>This root is empty.</EmptyNotice>
  const classOf = ({ userId }: AttributedEntry): string =>
    only === undefined || only === userId ? 'author' : 'author dimmed'
  return (
    <>
      <ul class="legend" aria-label="Authors">
        {[...units].map(([author, count]) => (
          <li key={author}>
            <button
              type="button"
              class="author"
              style={styles.get(author)}
              aria-pressed={only === author}
              onClick={() => setOnly(only === author ? undefined : author)}
            >
              {authorName(author)}
            </button>{' '}
            <span class="name">{formatCounted(count, 'unit')}</span>
          </li>
        ))}
      </ul>
      <p class="hint">Select an author to emphasize the parts of this author.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section class="card text live-text" aria-label="Content by author" tabIndex={0}>
        {toLines(runs.slice(0, limit)).map(({ label, runs: ofLine }, index) => (
          <div key={index}>
            {ofLine.map((run, at) => (
              <span key={at} class={classOf(run)} style={styles.get(run.userId)} title={originInWords(run)}>
                {run.text ?? (run.node === undefined ? label : `${run.node} `)}
              </span>
            ))}
          </div>
        ))}
      </section>
      {runs.length > limit && (
        <Button onClick={() => setLimit(limit + pageRuns)}>
          Show more ({formatCounted(runs.length - limit, 'part')})
        </Button>
      )}
    </>
  )
}
