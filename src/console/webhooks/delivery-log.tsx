import { useState } from 'preact/hooks'
import { useAction, useApi, useQuery } from '../api/hooks.ts'
import { useInterval } from '../api/use-interval.ts'
import { Button, Select } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome, EmptyNotice, ErrorNotice, Notice } from '../ui/notice.tsx'
import {
  type DeliveryEntry,
  type DeliveryStatusName,
  describeDelivery,
  finalAttempt,
  lastAttempt,
  type PendingSend,
} from './delivery-entry.ts'
import { DeliveryTable } from './delivery-table.tsx'
import { type DeliveryPage, iteratorOfPage } from './find-delivery.ts'
import { IteratorPager } from './iterator-pager.tsx'
import { endpointEventTypes } from './webhook-types.ts'

interface TestFormProps {
  readonly endpointId: string
  readonly onSent: (messageId: string) => void
}

const options = endpointEventTypes.map((type) => [type, type] as const)

/** Shows a form that sends a signed test event. */
function TestForm({ endpointId, onSent }: TestFormProps) {
  const api = useApi()
  const [eventType, setType] = useState<string>('webhook.test')
  const test = useAction(async () => {
    const path = '/v2/workspace/advancedwebhook/endpoints/test'
    const { messageId } = await api.call<{ messageId: string }>(path, {
      endpointId,
      eventType,
      waitSeconds: 0,
    })
    onSent(messageId)
  })
  return (
    <>
      <Form label="Send a test" inline onSubmit={() => void test.run()}>
        <Select label="Event of the test" value={eventType} options={options} onChange={setType} />
        <Button kind="primary" type="submit" busy={test.busy}>
          Send a test
        </Button>
      </Form>
      <ErrorNotice error={test.error} />
    </>
  )
}

interface DeliveriesProps {
  readonly endpointId: string
  readonly canTest?: boolean
}

const path = '/v2/workspace/advancedwebhook/deliveries'
const lookMs = 500
/**
 * Maximum number of reads while the page waits for an outcome. The reads take 40 s, because a receiver has 30
 * s to respond.
 */
const looksMax = 80
const statuses = [
  ['', 'Any'],
  ['pending', 'Pending'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
] as const

/**
 * Shows the delivery log of an endpoint. If the user sends an event, reads the log repeatedly until the event
 * has an outcome.
 */
export function DeliveryLog({ endpointId, canTest = false }: DeliveriesProps) {
  const api = useApi()
  const [status, setStatus] = useState<DeliveryStatusName | ''>('')
  const [iterator, setIterator] = useState<string | null>(null)
  const [pending, setPending] = useState<PendingSend | null>(null)
  const asked = {
    endpointId,
    ...(status === '' ? {} : { status }),
    ...(iterator === null ? {} : { iterator }),
  }
  const { data, error, reload } = useQuery<DeliveryPage>(`${path}/get`, asked)
  const outcome = pending === null || data === null ? null : finalAttempt(data.deliveries, pending)
  const [looks, setLooks] = useState(0)
  const isWaiting = pending !== null && outcome === null
  useInterval(isWaiting && looks < looksMax ? lookMs : null, () => {
    setLooks(looks + 1)
    reload()
  })
  const look = (next: PendingSend) => {
    setPending(next)
    setLooks(0)
    reload()
  }
  const resend = useAction(async (delivery: DeliveryEntry) => {
    const { messageId } = delivery
    await api.call(`${path}/resend`, { endpointId, messageId })
    if (status !== '') {
      setIterator(await iteratorOfPage(api, endpointId, messageId))
      setStatus('')
    }
    look({ messageId, after: lastAttempt(delivery)?.time ?? null })
  })
  return (
    <section aria-label={`Deliveries of ${endpointId}`}>
      {canTest && (
        <TestForm
          endpointId={endpointId}
          onSent={(messageId) => {
            // Shows the first page without a filter, because the new delivery is at its start.
            setStatus('')
            setIterator(null)
            look({ messageId, after: null })
          }}
        />
      )}
      {isWaiting && (
        <Notice>
          {looks < looksMax ? 'Sent; waiting for the outcome…' : 'No outcome yet. Refresh later.'}
        </Notice>
      )}
      {outcome !== null && (
        <Notice kind={outcome.status === 'succeeded' ? 'good' : 'bad'}>{describeDelivery(outcome)}</Notice>
      )}
      <div class="row">
        <Select<DeliveryStatusName | ''>
          label="Status"
          value={status}
          options={statuses}
          onChange={(next) => {
            setStatus(next)
            setIterator(null)
          }}
        />
        <Button onClick={reload}>Read again</Button>
      </div>
      <ActionOutcome {...resend} />
      <ErrorNotice error={error} />
      {data?.deliveries.length === 0 && <EmptyNotice>No deliveries match this filter.</EmptyNotice>}
      {data !== null && data.deliveries.length > 0 && (
        <DeliveryTable
          deliveries={data.deliveries}
          busy={resend.busy}
          onResend={(delivery) => void resend.run(delivery)}
        />
      )}
      {data !== null && <IteratorPager page={data} onPage={setIterator} />}
    </section>
  )
}
