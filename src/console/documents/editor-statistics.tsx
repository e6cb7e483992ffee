import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { formatBytes } from '../ui/format.ts'
import { LocalTime } from '../ui/time.tsx'
import type { EditorInfo } from './editor.ts'
import type { LiveDocument } from './live/live-document.ts'
import { countStructs, type StructCounts } from './live/live-document.ts'

/**
 * Minimum intervals in ms between two counts of the structs in the page, and between two requests for the
 * values of the server.
 */
const countEveryMs = 1_000
const askEveryMs = 5_000

interface FiguresProps {
  readonly live: LiveDocument
  readonly head: EditorInfo
  /** Called when the values of the server may have changed. */
  readonly onChanged: () => void
}

/** Shows the size and the structure of the document, and the user who changed the document last. */
export function EditorStatistics({ live, head, onChanged }: FiguresProps) {
  const counts = useCounts(live, onChanged)
  const shown: readonly (readonly [string, ComponentChildren])[] = [
    ['Size', formatBytes(head.sizeBytes)],
    ['Structs', counts.structs],
    ['Tombstones', counts.tombstones],
    ['Clients', counts.clients],
    ['Last change', <LocalTime key="at" at={head.lastUpdate} />],
    ['By', head.lastUpdatedBy || 'unknown'],
    ...(head.schema === undefined ? [] : [['Schema', head.schema] as const]),
    ['State', live.connection.kind === 'live' ? 'live' : 'not connected'],
  ]
  return (
    <>
      <dl class="figures">
        {shown.map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{typeof value === 'number' ? value.toLocaleString() : value}</dd>
          </div>
        ))}
      </dl>
      <details class="version">
        <summary>Version</summary>
        <code>{head.version}</code>
      </details>
    </>
  )
}

function useCounts({ doc, connection }: LiveDocument, onChanged: () => void): StructCounts {
  const [counts, setCounts] = useState(() => countStructs(doc))
  useEffect(() => {
    // Counts again, to include the updates that arrived while the page was connecting.
    setCounts(countStructs(doc))
    const all = [
      throttled(countEveryMs, () => setCounts(countStructs(doc))),
      throttled(askEveryMs, onChanged),
    ]
    const changed = () => {
      for (const { call } of all) call()
    }
    doc.on('update', changed)
    return () => {
      doc.off('update', changed)
      for (const { end } of all) end()
    }
  }, [doc, connection.kind])
  return counts
}

/** Returns a function `call` that runs `act` after a delay. Further calls during the delay have no effect. */
function throttled(
  pauseMs: number,
  act: () => void,
): { readonly call: () => void; readonly end: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  const call = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      act()
    }, pauseMs)
  }
  return { call, end: () => clearTimeout(timer) }
}
