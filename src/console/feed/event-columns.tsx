import { href } from '../routing/route.ts'
import type { Column } from '../ui/table.tsx'
import { LocalTime } from '../ui/time.tsx'
import type { ListedEvent } from './listed-event.ts'

/** Columns of a table of events. */
export const eventColumns: readonly Column<ListedEvent>[] = [
  { title: 'Time', cell: ({ at }) => <LocalTime at={at} /> },
  { title: 'Event', cell: ({ type }) => <span class="event-type">{type}</span> },
  { title: 'Document', cell: (event) => <Place event={event} /> },
  { title: 'Version', cell: ({ data }) => <Version data={data} /> },
  { title: 'By', cell: ({ actionUser: { userId, name } }) => name ?? userId },
  { title: 'Details', cell: (event) => <Details event={event} /> },
]

interface EventProps {
  readonly event: ListedEvent
}

function Place({ event: { organizationId, documentId, data, type } }: EventProps) {
  if (documentId === null) return <>{organizationId}</>
  const isGone = type === 'document.delete'
  return (
    <>
      {isGone ? documentId : <a href={href('documents', organizationId, documentId)}>{documentId}</a>}
      <span class="hint">
        {organizationId}
        {typeof data.editorId === 'string' && `, editor ${data.editorId}`}
      </span>
    </>
  )
}

/** Shows the version of a change and the one before it. Other events have no version. */
function Version({ data: { version, versionBefore } }: Pick<ListedEvent, 'data'>) {
  if (typeof version !== 'string') return <>–</>
  return (
    <>
      {version}
      <span class="hint">{typeof versionBefore === 'string' ? `after ${versionBefore}` : 'first'}</span>
    </>
  )
}

const Details = ({ event: { id, cursor, data } }: EventProps) => (
  <details>
    <summary>
      Data<span class="unseen"> of {id}</span>
    </summary>
    <pre>
      <code>{JSON.stringify({ id, cursor, data }, null, 2)}</code>
    </pre>
  </details>
)
