import type { FunctionComponent, VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { CrdtGetDataItem } from '../../client/api/operation-types.ts'
import { useQuery } from '../api/hooks.ts'
import { Button } from '../ui/controls.tsx'
import { formatBytes } from '../ui/format.ts'
import { lazy } from '../ui/lazy.tsx'
import { EmptyNotice, ErrorNotice, Notice, Reading } from '../ui/notice.tsx'
import type { EditorAddress, EditorViewProps } from './editor.ts'
import { EditorTabs } from './editor-tabs.tsx'
import type { ConnectionState, LiveDocument } from './live/live-document.ts'
import { liveRoots } from './live/live-roots.ts'
import { useLiveDocument } from './live/use-live-document.ts'

interface OpenViewProps extends EditorViewProps {
  readonly live: LiveDocument
  readonly head: CrdtGetDataItem
  /** Called when `head` may be old. */
  readonly onChanged: () => void
}

/** The views of an editor that load their code on demand. */
const views = new Map<string, FunctionComponent<OpenViewProps>>([
  ['document', lazy(async () => (await import('./page/document-page.tsx')).DocumentPage)],
  ['structure', lazy(async () => (await import('./live/structure-view.tsx')).StructureView)],
  ['branches', lazy(async () => (await import('./branches/branches-view.tsx')).BranchesView)],
  ['versions', lazy(async () => (await import('./versions/version-list.tsx')).VersionList)],
  ['replace', lazy(async () => (await import('./content/replace-view.tsx')).ReplaceView)],
])

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
  // The views need the list of roots, so they appear when the list is known.
  const isRead = roots.length > 0 || live.connection.kind !== 'connecting'
  return (
    <>
      <EditorTabs address={address} view={view} />
      <State connection={live.connection} onAgain={onAgain} />
      {View !== undefined && isRead && <View key={view} {...{ address, live, roots, head, onChanged }} />}
    </>
  )
}

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
