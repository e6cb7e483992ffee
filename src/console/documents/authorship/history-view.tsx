import { useState } from 'preact/hooks'
import type { SavedVersion } from '../../../client/api/operation-types.ts'
import { usePagedQuery } from '../../api/hooks.ts'
import { Button, Select } from '../../ui/controls.tsx'
import { EmptyNotice, ReadState } from '../../ui/notice.tsx'
import { VersionComparison } from '../diff/diff-view.tsx'
import { type EditorViewProps, versionTitle } from '../editor.ts'
import { ChangesSection } from './changes-section.tsx'

/** Value that stands for the current content, in addition to the ids of versions. */
const now = 'now'

/** Shows the changes between two saved versions: a timeline, the changes of each author, and a comparison. */
export function HistoryView({ address, roots }: EditorViewProps) {
  const versions = usePagedQuery<SavedVersion>('/v2/crdt/versions/list', address)
  const oldest = versions.items.at(-1)
  return (
    <>
      <h2>History</h2>
      <ReadState {...versions} />
      {!versions.loading && oldest === undefined && versions.error === null && (
        <EmptyNotice>
          There is no saved version yet. Save one in the view “Versions”: the history starts there.
        </EmptyNotice>
      )}
      {oldest !== undefined && (
        <Range
          {...{ address, roots }}
          versions={versions.items}
          oldest={oldest.versionId}
          more={versions.more}
        />
      )}
    </>
  )
}

interface RangeProps extends EditorViewProps {
  /** Saved versions, newest first. */
  readonly versions: readonly SavedVersion[]
  /** Id of the oldest version in the list. */
  readonly oldest: string
  readonly more: (() => void) | null
}

function Range({ address, roots, versions, oldest, more }: RangeProps) {
  const [from, setFrom] = useState(oldest)
  const [to, setTo] = useState(now)
  /** Number of reads of the comparison. */
  const [reads, setReads] = useState(0)
  const options = versions.map((each) => [each.versionId, versionTitle(each)] as const)
  const range = { from, ...(to !== now && { to }) }
  return (
    <>
      <div class="row">
        <Select label="From" value={from} options={options} onChange={setFrom} />
        <Select label="To" value={to} options={[[now, 'the present content'], ...options]} onChange={setTo} />
        {more !== null && <Button onClick={more}>Earlier versions</Button>}
      </div>
      <ChangesSection
        key={JSON.stringify(range)}
        {...{ address, range, versions, setFrom, setTo }}
        onChanged={() => setReads(reads + 1)}
      />
      <h3>Comparison</h3>
      <VersionComparison key={reads} {...{ address, roots, range }} />
    </>
  )
}
