import { useState } from 'preact/hooks'
import { useApi, useAsync } from '../../api/hooks.ts'
import { Button, Select } from '../../ui/controls.tsx'
import { FocusedCard } from '../../ui/focused-card.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { DiffView } from '../diff/diff-view.tsx'
import type { EditorAddress } from '../live/live-view.ts'
import { compareStates, currentState } from './compare.ts'
import { type VersionSummary, versionTitle } from './version-summary.ts'

interface CompareProps {
  readonly address: EditorAddress
  readonly roots: readonly string[]
  readonly version: VersionSummary
  readonly versions: readonly VersionSummary[]
  readonly onClose: () => void
}

/**
 * Shows the differences between a version and another state, which is the current content or another version.
 */
export function CompareView({ address, roots, version, versions, onClose }: CompareProps) {
  const api = useApi()
  const [to, setTo] = useState(currentState)
  const [root = null, setRoot] = useState(roots[0])
  const [count, setCount] = useState(0)
  const { data, error, loading } = useAsync(
    () => compareStates(api, address, root, [version.versionId, to]),
    JSON.stringify([root, to, count]),
  )
  const others = versions.filter(({ versionId }) => versionId !== version.versionId)
  const states = [
    [currentState, 'the present content'],
    ...others.map((each) => [each.versionId, versionTitle(each)] as const),
  ] as const
  return (
    <FocusedCard label="Comparison">
      <h3>From {versionTitle(version)}</h3>
      <div class="row">
        <Select label="To" value={to} options={states} onChange={setTo} />
        {roots.length > 1 && (
          <Select
            label="Root"
            value={root ?? ''}
            options={roots.map((name) => [name, name] as const)}
            onChange={setRoot}
          />
        )}
        <Button onClick={() => setCount(count + 1)}>Compare again</Button>
        <Button onClick={onClose}>Close</Button>
      </div>
      <ErrorNotice error={error} />
      {loading && <p class="hint">Reading…</p>}
      {data?.isOfFormatting && data.parts.length > 1 && <p>The text is the same; its formatting differs:</p>}
      {data !== null && error === null && <DiffView parts={data.parts} />}
    </FocusedCard>
  )
}
