import { useState } from 'preact/hooks'
import { useQuery } from '../../api/hooks.ts'
import { Select } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import type { RootProps } from '../content/root-content.tsx'
import { DiffView } from '../diff/diff-view.tsx'
import { type ComparedRun, toDiffParts } from './compared-run.ts'

interface DiffProps extends RootProps {
  readonly range: { readonly from: string; readonly to?: string }
}

/** Shows the differences of a root between two versions. */
export function VersionComparison({ address, roots, range }: DiffProps) {
  const [root = null, setRoot] = useState(roots[0])
  const { data, error, loading } = useQuery<{ readonly diff: readonly ComparedRun[] }>(
    '/v2/crdt/versions/diff',
    {
      ...address,
      ...range,
      ...(root !== null && { contentKey: root }),
      format: 'runs',
    },
  )
  return (
    <>
      <h3>Comparison</h3>
      {roots.length > 1 && (
        <Select
          label="Root"
          value={root ?? ''}
          options={roots.map((name) => [name, name] as const)}
          onChange={setRoot}
        />
      )}
      <ErrorNotice error={error} />
      {loading && <p class="hint">Reading…</p>}
      {data !== null && error === null && <DiffView parts={toDiffParts(data.diff)} />}
    </>
  )
}
