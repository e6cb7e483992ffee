import type { Column } from '../ui/table.tsx'
import { LocalTime } from '../ui/time.tsx'

/** A group of equal requests, as `/v2/requests/get` returns it. */
export interface ListedRequest {
  readonly id: string
  /** Time of the latest request in epoch milliseconds. */
  readonly timestamp: number
  readonly kind: 'rest' | 'websocket'
  readonly target: string
  readonly outcome: string
  readonly code?: string
  readonly reason?: string
  readonly clientAddress: string
  readonly requestId?: string
  readonly times: number
}

/** Columns of a table of requests. */
export const requestColumns: readonly Column<ListedRequest>[] = [
  { title: 'Last', cell: ({ timestamp }) => <LocalTime at={timestamp} /> },
  {
    title: 'Request',
    cell: ({ kind, target, requestId }) => (
      <>
        {target === '' ? 'unknown' : <code>{target}</code>}
        <span class="hint">{[kind, requestId].filter(Boolean).join(', request ')}</span>
      </>
    ),
  },
  {
    title: 'Outcome',
    cell: ({ outcome, reason, code }) => (
      <>
        {outcome}
        {reason !== undefined && <span class="hint">{reason}</span>}
        {code !== undefined && (
          <a href={`/docs/errors#${code.replaceAll('/', '')}`}>
            <code>{code}</code>
          </a>
        )}
      </>
    ),
  },
  { title: 'From', cell: ({ clientAddress }) => <span class="address">{clientAddress}</span> },
  { title: 'Times', cell: ({ times }) => times.toLocaleString(), numeric: true },
]
