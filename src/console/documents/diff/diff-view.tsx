import type { ComponentChildren } from 'preact'
import { useQuery } from '../../api/hooks.ts'
import { formatCounted } from '../../ui/format.ts'
import { ReadState } from '../../ui/notice.tsx'
import type { EditorViewProps } from '../editor.ts'
import { useRoot } from '../fields.tsx'
import { type ComparedRun, collapseUnchanged, type DiffPart, toDiffParts } from './diff-part.ts'

interface ComparisonProps extends EditorViewProps {
  /** Ids of two saved versions, the earlier first; without `to`, the present content is the later one. */
  readonly range: { readonly from: string; readonly to?: string }
}

/** Shows the differences of a root between two versions. */
export function VersionComparison({ address, roots, range }: ComparisonProps) {
  const [contentKey, rootField] = useRoot(roots)
  const { data, error, loading } = useQuery<{ readonly diff: readonly ComparedRun[] }>(
    '/v2/crdt/versions/diff',
    { ...address, ...range, contentKey, format: 'runs' },
  )
  return (
    <>
      {rootField}
      <ReadState error={error} loading={loading} />
      {data !== null && error === null && <DiffView parts={toDiffParts(data.diff)} />}
    </>
  )
}

/** Shows removed and added text. Both have a color and a sign. */
export function DiffView({ parts }: { readonly parts: readonly DiffPart[] }) {
  if (parts.every(({ kind }) => kind === 'same')) return <p>No difference.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section class="difference code" tabIndex={0} aria-label="Difference">
      {collapseUnchanged(parts).map(({ kind, text, omitted }, index) => {
        if (omitted !== undefined)
          return (
            <span key={index} class="omitted">
              {`⋯ ${formatCounted(omitted, 'unchanged character')} ⋯`}
            </span>
          )
        if (kind === 'added') return <Added key={index} text={text} />
        if (kind === 'removed') return <Removed key={index} text={text} />
        return <span key={index}>{text}</span>
      })}
    </section>
  )
}

interface ChangedProps {
  readonly text: ComponentChildren
}

export const Removed = ({ text }: ChangedProps) => (
  <del>
    <Sign sign="−" />
    {text}
  </del>
)

export const Added = ({ text }: ChangedProps) => (
  <ins>
    <Sign sign="+" />
    {text}
  </ins>
)

/** Shows the sign of a part. The browser does not include the sign when the user copies the text. */
const Sign = ({ sign }: { readonly sign: string }) => <span class="sign">{sign}</span>
