import { useEffect } from 'preact/hooks'
import type { CrdtGetDataItem } from '../../../client/api/operation-types.ts'
import { LocalTime } from '../../ui/controls.tsx'
import { formatBytes } from '../../ui/format.ts'
import { EmptyNotice } from '../../ui/notice.tsx'
import { DefinitionList, Table } from '../../ui/table.tsx'
import { type AwarenessUser, caretPositions } from './awareness-users.ts'
import { UserName } from './here-now.tsx'
import { LiveContent } from './live-content.tsx'
import type { LiveDocument } from './live-document.ts'

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
          ['Sessions so far', statistics?.clients.toLocaleString()],
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
        { title: 'Name', cell: (person) => <UserName person={person} /> },
        { title: 'User', cell: ({ userId }) => userId || '–' },
        { title: 'Cursor', cell: place },
        { title: 'First seen', cell: ({ since }) => <LocalTime at={since} /> },
      ]}
    />
  )
}

/** Shows the shared types of an editor as trees, its size, and the users on it. */
export const StructureView = (props: StatisticsProps) => (
  <>
    <EditorStatistics {...props} />
    <h2>Who is here</h2>
    <PresenceList live={props.live} />
    <p class="hint">
      This page does not edit the document and shows no cursor of yours. The presence list of the server
      contains you as the viewer “Console”, and webhooks get join and leave events of the user{' '}
      <code>console</code>.
    </p>
    <h2>Content</h2>
    <LiveContent live={props.live} />
  </>
)
