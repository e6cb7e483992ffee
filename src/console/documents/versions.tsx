import { useState } from 'preact/hooks'
import { useAction, useApi, usePages } from '../calls.ts'
import { Button, Field } from '../ui/controls.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { bytes } from '../ui/figures.ts'
import { Outcome } from '../ui/notice.tsx'
import { List } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { Compare } from './compare.tsx'
import type { EditorAddress } from './live/scene.ts'
import { Restore } from './restore.tsx'
import { consoleUser } from './user.ts'
import { nameOf, type Version } from './version.ts'

interface VersionsProps {
  readonly address: EditorAddress
  readonly roots: readonly string[]
}

type Doing = { readonly kind: 'compare' | 'restore' | 'delete'; readonly version: Version }

/** What was kept of an editor: to look at what has changed since, and to go back. */
export function Versions({ address, roots }: VersionsProps) {
  const listing = usePages<Version>('/v2/crdt/versions/list', address)
  const [doing, setDoing] = useState<Doing | null>(null)
  const deletion = useDeletion(address, () => {
    setDoing(null)
    listing.reload()
  })
  const close = () => setDoing(null)
  const actions = (version: Version) => (
    <span class="row">
      {(['compare', 'restore', 'delete'] as const).map((kind) => (
        <Button
          key={kind}
          kind={kind === 'delete' ? 'danger' : 'plain'}
          label={`${titles[kind]} ${nameOf(version)}`}
          onClick={() => setDoing({ kind, version })}
        >
          {titles[kind]}
        </Button>
      ))}
    </span>
  )
  return (
    <>
      <h2>Versions</h2>
      <NewVersion address={address} onMade={listing.reload} />
      <Outcome error={deletion.error} done={deletion.done} />
      {doing?.kind === 'compare' && (
        <Compare
          key={doing.version.versionId}
          {...{ address, roots }}
          version={doing.version}
          versions={listing.items}
          onClose={close}
        />
      )}
      {doing?.kind === 'restore' && (
        <Restore
          key={doing.version.versionId}
          address={address}
          version={doing.version}
          onRestored={listing.reload}
          onClose={close}
        />
      )}
      <List
        caption="Versions"
        listing={listing}
        keyOf={({ versionId }) => versionId}
        columns={[
          { title: 'Kept', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { title: 'Label', cell: ({ label, kind }) => label || <span class="tag">{kind}</span> },
          { title: 'By', cell: by },
          { title: 'Size', numeric: true, cell: ({ sizeBytes }) => bytes(sizeBytes) },
          { title: 'Actions', cell: actions },
        ]}
        empty="There is no version yet: keep one, or wait until the server does."
      />
      {doing?.kind === 'delete' && (
        <Confirm
          title={`Delete ${nameOf(doing.version)}?`}
          action="Delete the version"
          busy={deletion.busy}
          onConfirm={() => void deletion.run(doing.version)}
          onClose={close}
        >
          <p>Nobody can go back to it any more. The document stays as it is.</p>
        </Confirm>
      )}
    </>
  )
}

const titles = { compare: 'Compare', restore: 'Restore…', delete: 'Delete' } as const

const by = ({ createdBy, authors }: Version): string =>
  createdBy || authors.map(({ name, userId }) => name ?? userId).join(', ') || '–'

function useDeletion(address: EditorAddress, onDeleted: () => void) {
  const api = useApi()
  return useAction(async (version: Version) => {
    await api.call('/v2/crdt/versions/delete', { ...address, versionId: version.versionId })
    onDeleted()
    return `${nameOf(version)} is deleted.`
  })
}

function NewVersion({ address, onMade }: { readonly address: EditorAddress; readonly onMade: () => void }) {
  const api = useApi()
  const [label, setLabel] = useState('')
  const { run, busy, error, done } = useAction(async () => {
    await api.call('/v2/crdt/versions/create', { ...address, label, userId: consoleUser.id })
    setLabel('')
    onMade()
    return 'The present content is kept.'
  })
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <div class="row">
        <Field label="Label of a new version" value={label} onInput={setLabel} />
        <Button type="submit" busy={busy}>
          Keep the present content
        </Button>
      </div>
      <Outcome error={error} done={done} />
    </form>
  )
}
