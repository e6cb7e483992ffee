import type { PagedQuery } from '../api/hooks.ts'
import { Button, LocalTime } from '../ui/controls.tsx'
import { formatCounted } from '../ui/format.ts'
import { PagedTable } from '../ui/table.tsx'
import {
  type DeliveryEntry,
  type DeliveryStatusName,
  describeAttempt,
  lastAttempt,
} from './delivery-entry.ts'

interface DeliveryTableProps {
  readonly listing: PagedQuery<DeliveryEntry>
  readonly busy: boolean
  readonly onResend: (delivery: DeliveryEntry) => void
}

const kinds: Readonly<Record<DeliveryStatusName, string>> = {
  pending: 'tag',
  succeeded: 'tag good',
  failed: 'tag bad',
}

export const DeliveryTable = ({ listing, busy, onResend }: DeliveryTableProps) => (
  <PagedTable
    caption="Deliveries"
    listing={listing}
    empty="No deliveries match this filter."
    keyOf={({ messageId }) => messageId}
    columns={[
      { title: 'Happened', cell: ({ createdAt }) => <LocalTime at={createdAt} /> },
      {
        title: 'Event',
        cell: ({ eventType, messageId }) => (
          <>
            {eventType}
            <code class="hint">{messageId}</code>
          </>
        ),
      },
      { title: 'Status', cell: (delivery) => <State of={delivery} /> },
      { title: 'Attempts', cell: (delivery) => <Attempts of={delivery} /> },
      {
        title: '',
        cell: (delivery) => (
          <Button label={`Resend ${delivery.messageId}`} busy={busy} onClick={() => onResend(delivery)}>
            Resend
          </Button>
        ),
      },
    ]}
  />
)

const State = ({ of: { status, nextAttemptAt, reason } }: { readonly of: DeliveryEntry }) => (
  <>
    <span class={kinds[status]}>{status}</span>
    {reason !== null && <span class="hint">{reason}</span>}
    {nextAttemptAt !== null && (
      <span class="hint">
        next: <LocalTime at={nextAttemptAt} />
      </span>
    )}
  </>
)

function Attempts({ of: delivery }: { readonly of: DeliveryEntry }) {
  const last = lastAttempt(delivery)
  if (last === undefined) return <>none yet</>
  return (
    <>
      {describeAttempt(last)}
      <details>
        <summary>{formatCounted(delivery.attempts.length, 'attempt')}</summary>
        <ol class="attempts">
          {delivery.attempts.map((attempt) => (
            <li key={attempt.time}>
              <LocalTime at={attempt.time} />: {describeAttempt(attempt)}
            </li>
          ))}
        </ol>
      </details>
    </>
  )
}
