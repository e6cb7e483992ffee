import { Button } from '../ui/controls.tsx'
import { counted } from '../ui/figures.ts'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { type Delivery, lastAttempt, type Status, sayAttempt } from './delivery.ts'

interface DeliveryTableProps {
  readonly deliveries: readonly Delivery[]
  readonly busy: boolean
  readonly onResend: (delivery: Delivery) => void
}

const kinds: Readonly<Record<Status, string>> = { pending: 'tag', succeeded: 'tag good', failed: 'tag bad' }

export const DeliveryTable = ({ deliveries, busy, onResend }: DeliveryTableProps) => (
  <Table
    caption="Deliveries"
    items={deliveries}
    keyOf={({ messageId }) => messageId}
    columns={[
      { title: 'Happened', cell: ({ createdAt }) => <Time at={createdAt} /> },
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

const State = ({ of: { status, nextAttemptAt, reason } }: { readonly of: Delivery }) => (
  <>
    <span class={kinds[status]}>{status}</span>
    {reason !== null && <span class="hint">{reason}</span>}
    {nextAttemptAt !== null && (
      <span class="hint">
        next: <Time at={nextAttemptAt} />
      </span>
    )}
  </>
)

function Attempts({ of: delivery }: { readonly of: Delivery }) {
  const last = lastAttempt(delivery)
  if (last === undefined) return <>none yet</>
  return (
    <>
      {sayAttempt(last)}
      <details>
        <summary>{counted(delivery.attempts.length, 'attempt')}</summary>
        <ol class="attempts">
          {delivery.attempts.map((attempt) => (
            <li key={attempt.time}>
              <Time at={attempt.time} />: {sayAttempt(attempt)}
            </li>
          ))}
        </ol>
      </details>
    </>
  )
}
