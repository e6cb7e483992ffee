import type { VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { href } from '../route.ts'
import { Button } from '../ui/controls.tsx'
import { bytes } from '../ui/figures.ts'
import { Empty, Notice, Problem } from '../ui/notice.tsx'
import { Figures } from './figures.tsx'
import { type Head, useHead } from './head.ts'
import { Content, rootsOf } from './live/content.tsx'
import type { Connection, LiveDocument } from './live/live-document.ts'
import { Presence } from './live/presence.tsx'
import { type EditorAddress, useLive } from './live/scene.ts'
import { Replace } from './replace.tsx'
import { Versions } from './versions.tsx'

/** Larger documents are read in full only if somebody wants to: until they are there the page stands still. */
const unaskedBytes = 8 * 1024 * 1024

export interface EditorPageProps {
  readonly address: EditorAddress
  readonly view: string
}

/** One editor of a document. */
export function EditorPage({ address, view }: EditorPageProps) {
  const { data, error, reload } = useHead(address)
  const [isWanted, setIsWanted] = useState(false)
  const [opening, setOpening] = useState(0)
  // Where it cannot be read again for now, what somebody is about to write stays where it is.
  const latest = useRef<Head | undefined>(undefined)
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
        This document is large ({bytes(head.sizeBytes)}): your browser will need a while for it.{' '}
        <Button onClick={() => setIsWanted(true)}>Open it</Button>
      </p>
    )
  if (error === null) return <p class="hint">Reading…</p>
  if (error.status !== 'NOT_FOUND') return <Problem error={error} />
  return (
    <Empty>
      There is no content in the editor {address.editorId} yet. <Button onClick={reload}>Look again</Button>
    </Empty>
  )
}

const views = [
  ['live', 'Live'],
  ['versions', 'Versions'],
  ['replace', 'Replace content'],
] as const

interface OpenEditorProps extends EditorPageProps {
  readonly head: Head
  readonly onChanged: () => void
  /** The document is to be opened as if nothing had been. */
  readonly onAgain: () => void
}

function OpenEditor({ address, view, head, onChanged, onAgain }: OpenEditorProps) {
  const live = useLive(address)
  const { organizationId, documentId, editorId } = address
  if (live === null) return <p class="hint">Reading…</p>
  const roots = rootsOf(live).map(({ name }) => name)
  // What is done to a root waits until it is known which there are.
  const isRead = roots.length > 0 || live.connection.kind !== 'connecting'
  return (
    <>
      <Figures live={live} head={head} onChanged={onChanged} />
      <nav aria-label="Views" class="tabs">
        {views.map(([name, title]) => (
          <a
            key={name}
            class="tab"
            href={href('documents', organizationId, documentId, editorId, name)}
            aria-current={name === view ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <State connection={live.connection} onAgain={onAgain} />
      {view === 'versions' && isRead && <Versions address={address} roots={roots} />}
      {view === 'replace' && isRead && <Replace address={address} roots={roots} />}
      {view === 'live' && <Live live={live} />}
    </>
  )
}

const Live = ({ live }: { readonly live: LiveDocument }) => (
  <>
    <h2>Who is here</h2>
    <Presence live={live} />
    <p class="hint">
      This page shows no presence and edits nothing. Where the server lists who is connected, you are there as
      “Console”, a viewer, and webhooks are told that the user <code>console</code> comes and goes.
    </p>
    <h2>Content</h2>
    <Content live={live} />
  </>
)

interface StateProps extends Pick<OpenEditorProps, 'onAgain'> {
  readonly connection: Connection
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
