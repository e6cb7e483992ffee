import { useEffect, useState } from 'preact/hooks'
import { bytes } from '../ui/figures.ts'
import { Time } from '../ui/time.tsx'
import type { Head } from './head.ts'
import { type Counts, countsOf } from './live/counts.ts'
import type { LiveDocument } from './live/live-document.ts'

/** However fast people type, figures are made this often at most, and the server is asked for its own. */
const countEveryMs = 1_000
const askEveryMs = 5_000

interface FiguresProps {
  readonly live: LiveDocument
  readonly head: Head
  /** The server may have other figures now. */
  readonly onChanged: () => void
}

/** How large the document is, what it is made of, and who has changed it last. */
export function Figures({ live, head, onChanged }: FiguresProps) {
  const counts = useCounts(live, onChanged)
  const shown: readonly (readonly [string, unknown])[] = [
    ['Size', bytes(head.sizeBytes)],
    ['Structs', counts.structs],
    ['Tombstones', counts.tombstones],
    ['Clients', counts.clients],
    ['Last change', <Time key="at" at={head.lastUpdate} />],
    ['By', head.lastUpdatedBy || 'nobody known'],
    ['State', live.connection.kind === 'live' ? 'live' : 'not connected'],
  ]
  return (
    <>
      <dl class="figures">
        {shown.map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{typeof value === 'number' ? value.toLocaleString() : (value as string)}</dd>
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

function useCounts({ doc, connection }: LiveDocument, onChanged: () => void): Counts {
  const [counts, setCounts] = useState(() => countsOf(doc))
  useEffect(() => {
    // What has come while it was connecting.
    setCounts(countsOf(doc))
    const all = [throttled(countEveryMs, () => setCounts(countsOf(doc))), throttled(askEveryMs, onChanged)]
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

/** Acts some time after it was called, once for all calls until then. */
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
