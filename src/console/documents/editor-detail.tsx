import type { ComponentType, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CrdtGetDataItem } from '../../client/api/operation-types.ts'
import { useQuery } from '../api/hooks.ts'
import { Button, LocalTime } from '../ui/controls.tsx'
import { formatBytes } from '../ui/format.ts'
import { lazy } from '../ui/lazy.tsx'
import { EmptyNotice, ErrorNotice, Notice, Reading } from '../ui/notice.tsx'
import { DefinitionList, Table } from '../ui/table.tsx'
import type { EditorAddress, EditorViewProps } from './editor.ts'
import { EditorTabs } from './editor-tabs.tsx'
import { type AwarenessUser, caretPositions } from './live/awareness-users.ts'
import { LiveContent, liveRoots } from './live/live-content.tsx'
import type { ConnectionState, LiveDocument } from './live/live-document.ts'
import { useLiveDocument } from './live/live-view.ts'

/** Minimum time in ms between two requests for the values of the server. */
const askEveryMs = 5_000

interface StatisticsProps {
  readonly live: LiveDocument
  readonly head: CrdtGetDataItem
  /** Called when the values of the server may have changed. */
  readonly onChanged: () => void
}

/** Shows the size and the structure of the document, and the user who changed the document last. */
function EditorStatistics({ live: { doc, connection }, head, onChanged }: StatisticsProps) {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const changed = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        onChanged()
      }, askEveryMs)
    }
    doc.on('update', changed)
    return () => {
      doc.off('update', changed)
      clearTimeout(timer)
    }
  }, [doc])
  const { statistics } = head
  return (
    <>
      <DefinitionList
        inline
        of={[
          ['Size', formatBytes(head.sizeBytes)],
          ['Structs', statistics?.structs.toLocaleString()],
          ['Tombstones', statistics?.tombstones.toLocaleString()],
          ['Clients', statistics?.clients.toLocaleString()],
          ['Last change', <LocalTime key="at" at={head.lastUpdate} />],
          ['By', head.lastUpdatedBy || 'unknown'],
          ['Schema', head.schema],
          ['State', connection.kind === 'live' ? 'live' : 'not connected'],
        ]}
      />
      <details class="version">
        <summary>Version</summary>
        <code>{head.version}</code>
      </details>
    </>
  )
}

/** The views of an editor that load their code on demand. */
const views: ReadonlyMap<string, ComponentType<EditorViewProps>> = new Map([
  ['authors', lazy(async () => (await import('./authorship/authors-view.tsx')).AuthorsView)],
  ['history', lazy(async () => (await import('./authorship/history-view.tsx')).HistoryView)],
  ['branches', lazy(async () => (await import('./branches/branches-view.tsx')).BranchesView)],
  ['versions', lazy(async () => (await import('./versions/version-list.tsx')).VersionList)],
  ['replace', lazy(async () => (await import('./content/replace-view.tsx')).ReplaceView)],
])

/** Shows the users on the editor, with the positions of their cursors. */
function PresenceList({ live }: { readonly live: LiveDocument }) {
  const people = live.people.all()
  const { roots, carets } = caretPositions(live.doc, people)
  const indexes = new Map([...carets.values()].flat().map(({ clientId, index }) => [clientId, index]))
  const place = ({ clientId }: AwarenessUser) => {
    const root = roots.get(clientId)
    return root === undefined ? '–' : `${root}, at ${indexes.get(clientId)?.toLocaleString() ?? '?'}`
  }
  if (people.length === 0) return <EmptyNotice>No user shows presence in this editor.</EmptyNotice>
  return (
    <Table
      caption="Who is here"
      items={people}
      keyOf={({ clientId }) => String(clientId)}
      columns={[
        { title: 'Name', cell: (person) => <Name person={person} /> },
        { title: 'User', cell: ({ userId }) => userId || '–' },
        { title: 'Cursor', cell: place },
        { title: 'First seen', cell: ({ since }) => <LocalTime at={since} /> },
      ]}
    />
  )
}

const Name = ({ person: { name, color, isAgent } }: { readonly person: AwarenessUser }) => (
  <>
    {color !== null && <span class="swatch" style={{ backgroundColor: color }} />} {name}{' '}
    {isAgent && <span class="tag">agent</span>}
  </>
)

/**
 * Size in bytes. A larger document is opened only if the user requests it, because reading it blocks the
 * page.
 */
const unaskedBytes = 8 * 1024 * 1024

interface EditorPageProps {
  readonly address: EditorAddress
  readonly view: string
}

/** Shows one editor of a document. */
export function EditorDetail({ address, view }: EditorPageProps) {
  const { data, error, reload } = useQuery<readonly CrdtGetDataItem[]>('/v2/crdt/get', {
    ...address,
    format: 'roots',
    statistics: true,
  })
  const [isWanted, setIsWanted] = useState(false)
  const [opening, setOpening] = useState(0)
  // Keeps the latest values if a later read fails, so that the form with the text of the user stays on the
  // page.
  const latest = useRef<CrdtGetDataItem | undefined>(undefined)
  if (data !== null || error?.status === 'NOT_FOUND') latest.current = data?.[0]
  const head = latest.current
  const openAgain = () => {
    setOpening(opening + 1)
    reload()
  }
  if (head !== undefined && (isWanted || head.sizeBytes <= unaskedBytes))
    return <OpenEditor key={opening} {...{ address, view, head }} onChanged={reload} onAgain={openAgain} />
  if (head !== undefined)
    return (
      <p>
        This document is large ({formatBytes(head.sizeBytes)}): your browser will need a while for it.{' '}
        <Button onClick={() => setIsWanted(true)}>Open it</Button>
      </p>
    )
  if (error === null) return <Reading />
  if (error.status !== 'NOT_FOUND') return <ErrorNotice error={error} />
  return (
    <EmptyNotice>
      There is no content in the editor {address.editorId} yet. <Button onClick={reload}>Look again</Button>
    </EmptyNotice>
  )
}

interface OpenEditorProps extends EditorPageProps {
  readonly head: CrdtGetDataItem
  readonly onChanged: () => void
  /** Called when the user wants to open the document again from the start. */
  readonly onAgain: () => void
}

function OpenEditor({ address, view, head, onChanged, onAgain }: OpenEditorProps) {
  const live = useLiveDocument(address)
  if (live === null) return <Reading />
  const View = views.get(view)
  const roots = liveRoots(live).map(({ name }) => name)
  // The views other than `live` need the list of roots, so they appear when the list is known.
  const isRead = roots.length > 0 || live.connection.kind !== 'connecting'
  return (
    <>
      <EditorStatistics live={live} head={head} onChanged={onChanged} />
      <EditorTabs address={address} view={view} />
      <State connection={live.connection} onAgain={onAgain} />
      {View !== undefined && isRead && <View key={view} {...{ address, roots }} />}
      {view === 'live' && <Live live={live} />}
    </>
  )
}

const Live = ({ live }: { readonly live: LiveDocument }) => (
  <>
    <h2>Who is here</h2>
    <PresenceList live={live} />
    <p class="hint">
      This page does not edit the document and shows no cursor of yours. The presence list of the server
      contains you as the viewer “Console”, and webhooks get join and leave events of the user{' '}
      <code>console</code>.
    </p>
    <h2>Content</h2>
    <LiveContent live={live} />
  </>
)

interface StateProps extends Pick<OpenEditorProps, 'onAgain'> {
  readonly connection: ConnectionState
}

function State({ connection, onAgain }: StateProps): VNode | null {
  switch (connection.kind) {
    case 'live':
      return null
    case 'connecting':
      return <p class="hint">Connecting…</p>
    case 'lost':
      return (
        <Notice kind="bad">
          Not connected: {connection.why}. What you see may be old; it is tried again by itself.
        </Notice>
      )
    default:
      return (
        <Notice kind="bad">
          Disconnected: {connection.why}. What you see may be old.{' '}
          <Button onClick={onAgain}>Open again</Button>
        </Notice>
      )
  }
}
