import { useQuery } from '../../api/hooks.ts'
import { ReadState } from '../../ui/notice.tsx'
import type { EditorViewProps } from '../editor.ts'
import { useRoot } from '../use-root.tsx'
import { type ComparedRun, toDiffParts } from './compared-run.ts'
import { DiffView } from './diff-view.tsx'

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
