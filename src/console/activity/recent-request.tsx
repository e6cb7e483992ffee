import type { RequestsGetDataItem } from '../../client/api/operation-types.ts'
import { LocalTime } from '../ui/controls.tsx'
import type { Column } from '../ui/table.tsx'

/** Columns of a table of requests. */
export const requestColumns: readonly Column<RequestsGetDataItem>[] = [
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
          <a href={`/docs/errors/${code}`}>
            <code>{code}</code>
          </a>
        )}
      </>
    ),
  },
  { title: 'From', cell: ({ clientAddress }) => <span class="address">{clientAddress}</span> },
  { title: 'Times', cell: ({ times }) => times.toLocaleString(), numeric: true },
]
