import { useEffect } from 'preact/hooks'
import type { CrdtGetDataItem } from '../../client/api/operation-types.ts'
import { formatBytes } from '../ui/format.ts'
import { DefinitionList } from '../ui/table.tsx'
import { LocalTime } from '../ui/time.tsx'
import type { LiveDocument } from './live/live-document.ts'

/** Minimum time in ms between two requests for the values of the server. */
const askEveryMs = 5_000

interface StatisticsProps {
  readonly live: LiveDocument
  readonly head: CrdtGetDataItem
  /** Called when the values of the server may have changed. */
  readonly onChanged: () => void
}

/** Shows the size and the structure of the document, and the user who changed the document last. */
export function EditorStatistics({ live: { doc, connection }, head, onChanged }: StatisticsProps) {
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
