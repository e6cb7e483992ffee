import { expect, it } from 'vitest'
import {
  type DeliveryEntry,
  describeDelivery,
  finalAttempt,
} from '../../../src/console/webhooks/delivery-entry.ts'
import {
  draftOf,
  emptyDraft,
  toCreateRequest,
  toUpdateRequest,
} from '../../../src/console/webhooks/endpoint-draft.ts'

const attempt = { time: '2026-01-01T00:00:00.000Z', httpCode: 500, durationMs: 12.4, error: 'HTTP 500' }
const pending: DeliveryEntry = {
  messageId: 'msg_1',
  eventType: 'webhook.test',
  status: 'pending',
  createdAt: attempt.time,
  nextAttemptAt: attempt.time,
  reason: null,
  attempts: [],
}

it('[CON-49] returns the outcome of a delivery only after an attempt that follows the request', () => {
  const tried = { ...pending, attempts: [attempt] }
  expect(finalAttempt([], { messageId: 'msg_1', after: null })).toBeNull()
  expect(finalAttempt([pending], { messageId: 'msg_1', after: null })).toBeNull()
  expect(finalAttempt([tried], { messageId: 'msg_1', after: attempt.time })).toBeNull()
  expect(finalAttempt([tried], { messageId: 'msg_1', after: null })).toBe(tried)
})

it('[CON-49] describes the outcome of a delivery with its status, time and next step', () => {
  const said = describeDelivery({ ...pending, attempts: [attempt] })
  expect(said).toBe('Not delivered yet (HTTP 500 after 12 ms: HTTP 500); Weft retries.')
  const good = { ...attempt, httpCode: 200, error: null }
  expect(describeDelivery({ ...pending, status: 'succeeded', attempts: [attempt, good] })).toBe(
    'Delivered (HTTP 200 after 12 ms).',
  )
})

it('[CON-48] omits empty fields when it creates an endpoint, and clears them when it updates one', () => {
  const draft = { ...emptyDraft, url: ' https://example.com ', channels: 'acme, notes' }
  expect(toCreateRequest(draft)).toEqual({ url: 'https://example.com', channels: ['acme', 'notes'] })
  expect(toUpdateRequest(draft)).toEqual({
    url: 'https://example.com',
    description: null,
    filterTypes: null,
    channels: ['acme', 'notes'],
    rateLimit: null,
  })
  const stored = {
    id: 'ep',
    disabled: false,
    uid: null,
    createdAt: '',
    ...toUpdateRequest({ ...draft, rateLimit: '5' }),
  }
  expect(draftOf(stored as Parameters<typeof draftOf>[0])).toEqual({
    ...draft,
    url: 'https://example.com',
    rateLimit: '5',
  })
})
