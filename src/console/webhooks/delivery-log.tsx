import { useState } from 'preact/hooks'
import { type EventType, eventTypes } from '../../core/events/event-types.ts'
import { ApiCallError, type ApiClient, type ApiPage } from '../api/client.ts'
import { useAction, useApi, useIsShown, usePagedQuery } from '../api/hooks.ts'
import { Button, Select } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome, Notice } from '../ui/notice.tsx'
import {
  type DeliveryEntry,
  type DeliveryPage,
  type DeliveryStatusName,
  deliveriesPath,
  describeDelivery,
  finalAttempt,
  lastAttempt,
  type PendingSend,
} from './delivery-entry.ts'
import { DeliveryTable } from './delivery-table.tsx'

const lookMs = 500
/**
 * Maximum number of reads while the page waits for an outcome. The reads take 40 s, because a receiver has 30
 * s to respond.
 */
const looksMax = 80

/**
 * Reads the log until an event has an outcome.
 * @param isShown returns whether the page still waits for the outcome
 * @returns null if there was no outcome in time
 * @throws ApiCallError
 */
async function outcomeOf(
  api: ApiClient,
  endpointId: string,
  sent: PendingSend,
  isShown: () => boolean,
): Promise<DeliveryEntry | null> {
  let place: object | null = {}
  for (let look = 0; look < looksMax && isShown(); look++) {
    const page: ApiPage<DeliveryPage> = await api.page(`${deliveriesPath}/get`, { endpointId, ...place })
    const { deliveries } = page.data
    const outcome = finalAttempt(deliveries, sent)
    if (outcome !== null) return outcome
    // An event that was sent again can be on a later page.
    if (!deliveries.some(({ messageId }) => messageId === sent.messageId)) place = page.next
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
  return null
}

interface DeliveryLogProps {
  readonly endpointId: string
  readonly canTest: boolean
}

const statuses = [
  ['', 'Any'],
  ['pending', 'Pending'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
] as const

const testTypes = eventTypes.map((type) => [type, type] as const)

/** Shows the delivery log of an endpoint. Sends tests and events again, and shows their outcome. */
export function DeliveryLog({ endpointId, canTest }: DeliveryLogProps) {
  const api = useApi()
  const [status, setStatus] = useState<DeliveryStatusName | ''>('')
  const [eventType, setEventType] = useState<EventType>('webhook.test')
  const isShown = useIsShown()
  const listing = usePagedQuery<DeliveryEntry, DeliveryPage>(
    `${deliveriesPath}/get`,
    { endpointId, ...(status !== '' && { status }) },
    { size: { limit: 50 }, itemsOf: ({ deliveries }) => deliveries },
  )
  const sending = useAction(async (send: () => Promise<PendingSend>) => {
    const sent = await send()
    listing.reload()
    const outcome = await outcomeOf(api, endpointId, sent, isShown)
    listing.reload()
    if (outcome === null) return 'No outcome yet. Read the log again later.'
    if (outcome.status === 'succeeded') return describeDelivery(outcome)
    throw new ApiCallError('ABORTED', describeDelivery(outcome))
  })
  const test = async (): Promise<PendingSend> => {
    const path = '/v2/workspace/advancedwebhook/endpoints/test'
    const asked = { endpointId, eventType, waitSeconds: 0 }
    const { messageId } = await api.call<{ readonly messageId: string }>(path, asked)
    return { messageId, after: null }
  }
  const resend = async (delivery: DeliveryEntry): Promise<PendingSend> => {
    const { messageId } = delivery
    await api.call(`${deliveriesPath}/resend`, { endpointId, messageId })
    return { messageId, after: lastAttempt(delivery)?.time ?? null }
  }
  return (
    <section aria-label={`Deliveries of ${endpointId}`}>
      {canTest && (
        <Form label="Send a test" inline onSubmit={() => void sending.run(test)}>
          <Select label="Event of the test" value={eventType} options={testTypes} onChange={setEventType} />
          <Button kind="primary" type="submit" busy={sending.busy}>
            Send a test
          </Button>
        </Form>
      )}
      {sending.busy && <Notice>Sent; waiting for the outcome…</Notice>}
      <ActionOutcome {...sending} />
      <div class="row">
        <Select<DeliveryStatusName | ''>
          label="Status"
          value={status}
          options={statuses}
          onChange={setStatus}
        />
        <Button onClick={listing.reload}>Read again</Button>
      </div>
      <DeliveryTable
        listing={listing}
        busy={sending.busy}
        onResend={(delivery) => void sending.run(() => resend(delivery))}
      />
    </section>
  )
}
