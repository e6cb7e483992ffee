import { useEffect, useState } from 'preact/hooks'
import type { CrdtVersionsRestoreData, SavedVersion } from '../../../client/api/operation-types.ts'
import { useAction, useApi, usePagedQuery } from '../../api/hooks.ts'
import { Button, LocalTime, Select, TextField } from '../../ui/controls.tsx'
import { ConfirmButton, FocusedCard } from '../../ui/dialog.tsx'
import { ActionForm } from '../../ui/form.tsx'
import { formatBytes } from '../../ui/format.ts'
import { ActionOutcome } from '../../ui/notice.tsx'
import { PagedTable } from '../../ui/table.tsx'
import { DryRunResult, formatEditSummary } from '../content/dry-run-result.tsx'
import { VersionComparison } from '../diff/diff-view.tsx'
import { consoleUser, type EditorAddress, type EditorViewProps, versionTitle } from '../editor.ts'

interface RestoreProps {
  readonly address: EditorAddress
  readonly version: SavedVersion
  readonly onRestored: () => void
  readonly onClose: () => void
}

/**
 * Shows the changes that a restoration would make. Then restores the version, unless the document has been
 * edited since.
 */
function RestoreView({ address, version, onRestored, onClose }: RestoreProps) {
  const api = useApi()
  const request = { ...address, versionId: version.versionId, userId: consoleUser.id }
  const [foreseen, setForeseen] = useState<CrdtVersionsRestoreData | null>(null)
  /** Restores the version. If `seen` is null, only makes a dry run and shows its changes. */
  const { run, busy, error, done } = useAction(async (seen: CrdtVersionsRestoreData | null) => {
    setForeseen(null)
    const asked = seen === null ? { dryRun: true } : { ifVersion: seen.version }
    const answer = await api.call<CrdtVersionsRestoreData>('/v2/crdt/versions/restore', {
      ...request,
      ...asked,
    })
    if (seen === null) return setForeseen(answer)
    onRestored()
    return describeRestored(answer)
  })
  useEffect(() => void run(null), [])
  return (
    <FocusedCard label="Restoration">
      <h3>Restore {versionTitle(version)}</h3>
      <p>
        All connected users see the change at once and can continue to edit. The current content becomes an
        automatic version.
      </p>
      {foreseen !== null && (
        <DryRunResult written={foreseen} action="Restore" busy={busy} onApply={() => void run(foreseen)} />
      )}
      <ActionOutcome error={error} done={done} />
      {error?.status === 'ABORTED' && (
        <p>Nothing was changed, because the document has newer edits. Look again before you restore.</p>
      )}
      <p class="row">
        <Button busy={busy} onClick={() => void run(null)}>
          Look again
        </Button>
        <Button onClick={onClose}>Close</Button>
      </p>
    </FocusedCard>
  )
}

const describeRestored = (restored: CrdtVersionsRestoreData): string =>
  restored.previousVersionId === null
    ? 'The document already had this content.'
    : `Restored: ${formatEditSummary(restored)}. To undo this, restore the automatic version ${restored.previousVersionId}.`

type Doing = { readonly kind: 'compare' | 'restore'; readonly version: SavedVersion }

/** Lists the saved versions of an editor. The user can compare and restore them. */
export function VersionList({ address, roots }: EditorViewProps) {
  const api = useApi()
  const listing = usePagedQuery<SavedVersion>('/v2/crdt/versions/list', address)
  const [doing, setDoing] = useState<Doing | null>(null)
  const remove = async ({ versionId }: SavedVersion) => {
    await api.call('/v2/crdt/versions/delete', { ...address, versionId })
    setDoing(null)
    listing.reload()
  }
  const close = () => setDoing(null)
  const actions = (version: SavedVersion) => (
    <span class="row">
      {(['compare', 'restore'] as const).map((kind) => (
        <Button
          key={kind}
          label={`${titles[kind]} ${versionTitle(version)}`}
          onClick={() => setDoing({ kind, version })}
        >
          {titles[kind]}
        </Button>
      ))}
      <ConfirmButton
        action="Delete"
        label={`Delete ${versionTitle(version)}`}
        title={`Delete ${versionTitle(version)}?`}
        confirm="Delete the version"
        act={() => remove(version)}
      >
        <p>You cannot restore this version afterwards. The document does not change.</p>
      </ConfirmButton>
    </span>
  )
  return (
    <>
      <h2>Versions</h2>
      <NewVersion address={address} onMade={listing.reload} />
      {doing?.kind === 'compare' && (
        <CompareView
          key={doing.version.versionId}
          {...{ address, roots }}
          version={doing.version}
          versions={listing.items}
          onClose={close}
        />
      )}
      {doing?.kind === 'restore' && (
        <RestoreView
          key={doing.version.versionId}
          address={address}
          version={doing.version}
          onRestored={listing.reload}
          onClose={close}
        />
      )}
      <PagedTable
        caption="Versions"
        listing={listing}
        keyOf={({ versionId }) => versionId}
        columns={[
          { title: 'Kept', cell: ({ createdAt }) => <LocalTime at={createdAt} /> },
          { title: 'Label', cell: ({ label, kind }) => label || <span class="tag">{kind}</span> },
          { title: 'By', cell: by },
          { title: 'Size', numeric: true, cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
          { title: 'Actions', cell: actions },
        ]}
        empty="No versions yet. Save one, or wait for an automatic version."
      />
    </>
  )
}

/** Id that stands for the present content, in addition to the ids of versions. */
const present = 'now'

interface CompareProps extends EditorViewProps {
  readonly version: SavedVersion
  /** Saved versions, newest first. */
  readonly versions: readonly SavedVersion[]
  readonly onClose: () => void
}

/** Shows the differences between a version and another version or the present content. */
function CompareView({ address, roots, version, versions, onClose }: CompareProps) {
  const [other, setOther] = useState(present)
  const [count, setCount] = useState(0)
  const ids = versions.map(({ versionId }) => versionId)
  const { versionId } = version
  const isEarlier = other === present || ids.indexOf(other) < ids.indexOf(versionId)
  const later = isEarlier ? other : versionId
  const range = { from: isEarlier ? versionId : other, ...(later !== present && { to: later }) }
  const others = versions.filter((each) => each.versionId !== versionId)
  return (
    <FocusedCard label="Comparison">
      <h3>Compare {versionTitle(version)}</h3>
      <div class="row">
        <Select
          label="With"
          value={other}
          options={[
            [present, 'the present content'],
            ...others.map((each) => [each.versionId, versionTitle(each)] as const),
          ]}
          onChange={setOther}
        />
        <Button onClick={() => setCount(count + 1)}>Compare again</Button>
        <Button onClick={onClose}>Close</Button>
      </div>
      <VersionComparison key={count} {...{ address, roots, range }} />
    </FocusedCard>
  )
}

const titles = { compare: 'Compare', restore: 'Restore…' } as const

const by = ({ createdBy, authors }: SavedVersion): string =>
  createdBy || authors.map(({ name, userId }) => name ?? userId).join(', ') || '–'

function NewVersion({ address, onMade }: { readonly address: EditorAddress; readonly onMade: () => void }) {
  const api = useApi()
  const [label, setLabel] = useState('')
  const create = async () => {
    await api.call('/v2/crdt/versions/create', { ...address, label, userId: consoleUser.id })
    setLabel('')
    onMade()
    return 'The version is saved.'
  }
  return (
    <section class="card">
      <ActionForm label="New version" action="Save a version" act={create}>
        <TextField label="Label of a new version" value={label} onInput={setLabel} />
      </ActionForm>
    </section>
  )
}
