import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  EventIds,
  eventJob,
  eventTopic,
  type OutboundEvent,
} from '../../../src/core/events/outbound-event.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { payloadProblems } from '../../support/data/event-problems.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import {
  answering,
  callsOf,
  HookReceiver,
  hanging,
  hookTests,
  organizationId,
} from '../../support/servers/webhook-servers.ts'

const { start, receiving } = hookTests()

/** Records an event as its source does. */
async function record({ server, engine }: { server: TestServer; engine: Engine }, event: OutboundEvent) {
  const { workspaceId, apiKey } = server.credentials
  const [scope, at] = [{ workspaceId, apiKey, organizationId }, Date.now()]
  const job = eventJob({ ...event, id: new EventIds().next(at), at, scope })
  await engine.kv.commit(['test'], { jobs: [job] })
  engine.bus.publish(eventTopic, new Uint8Array())
}

it('[HOOK-220] sends events of the basic service with its token to both URLs, and recipients only to the URL for processed events', async () => {
  const hooks = await start()
  const { server, document, log } = hooks
  const [raw, processed] = [await receiving(), await receiving()]
  const webhookServiceConfig = {
    authToken: 'dXNlcjpwYXNz',
    rawNotificationUrl: raw.url,
    processedNotificationUrl: processed.url,
  }
  const config = { useWebhookService: true, webhookServiceConfig }
  dataOf(await server.post('/v2/workspace/webhookconfig/update', config))
  await document('d')
  const annotation = { annotationId: 'a', assignedTo: { userId: 'cy' }, createdBy: { userId: 'ann' } }
  const comment = { from: { userId: 'bob', name: 'Bob' } }
  const actionUser = { userId: 'ann' }
  await record(hooks, { type: 'comment.add', documentId: 'd', actionUser, data: { annotation, comment } })
  await eventually(() => raw.hooks.length === 1 && processed.hooks.length === 1)
  for (const { headers } of [...raw.hooks, ...processed.hooks])
    expect(headers.authorization).toBe('Basic dXNlcjpwYXNz')
  expect(raw.bodies[0]).toMatchObject({ actionType: 'comment.add', data: { annotation, comment } })
  expect(raw.bodies[0]).not.toHaveProperty('recipients')
  expect(processed.bodies[0]?.recipients).toEqual([
    { userId: 'cy', notificationConfig: expect.objectContaining({ inbox: 'ALL' }) },
    { userId: 'bob', name: 'Bob', notificationConfig: expect.objectContaining({ inbox: 'ALL' }) },
  ])
  await eventually(async () => (await log('basic-raw', { status: 'succeeded' })).deliveries.length === 1)
  expect((await log('basic-processed')).deliveries).toHaveLength(1)
})

it('[HOOK-142] lists the authors of a thread as recipients of its next comment, but not the acting user', async () => {
  const { server, document } = await start()
  const processed = await receiving()
  const webhookServiceConfig = { processedNotificationUrl: processed.url }
  dataOf(
    await server.post('/v2/workspace/webhookconfig/update', {
      useWebhookService: true,
      webhookServiceConfig,
    }),
  )
  await document('d')
  const [ann, bob, cy] = [{ userId: 'ann' }, { userId: 'bob', name: 'Bob' }, { userId: 'cy' }]
  const at = { organizationId, documentId: 'd' }
  const comments = [bob, ann, bob].map((from) => ({ from, text: 'so far' }))
  const thread = { annotationId: 'a', comments }
  dataOf(await server.post('/v2/commentannotations/add', { ...at, actionUser: ann, annotations: [thread] }))
  const next = { ...at, actionUser: cy, annotationId: 'a', comments: [{ from: cy, text: 'and now' }] }
  dataOf(await server.post('/v2/commentannotations/comments/add', next))
  const told = () => processed.bodies.filter(({ actionUser }) => (actionUser as typeof cy).userId === 'cy')
  await eventually(() => told().length === 1)
  expect(told()[0]?.recipients).toMatchObject([ann, bob])
  expect(told()[0]?.recipients).toHaveLength(2)
})

it('[HOOK-221] sends an event of more than 256 KB without its data', async () => {
  const hooks = await start()
  const receiver = await receiving()
  await hooks.endpoint(receiver.url)
  const event = { type: 'comment.add', documentId: null, actionUser: { userId: 'ann' } } as const
  await record(hooks, { ...event, data: { text: 'x'.repeat(270_000) } })
  await eventually(() => receiver.hooks.length === 1)
  const [body = {}] = receiver.bodies
  expect(body).toMatchObject({ event: 'comment.add' })
  expect(payloadProblems(body)).toBeNull()
  expect(receiver.hooks[0]?.body.length).toBeLessThan(1_000)
})

it('[HOOK-40] does not enqueue an event that no endpoint subscribes to', async () => {
  const { enqueued, endpoint, update, document } = await start()
  const receiver = await receiving()
  const id = await endpoint(receiver.url, { filterTypes: ['comment.add'] })
  await document('first')
  enqueued.length = 0
  await document('second')
  expect(enqueued).not.toContain('events')
  await update(id, { filterTypes: ['document.create'] })
  await document('third')
  expect(enqueued).toContain('events')
})

it('[HOOK-223] in the metrics, reports the outcomes of attempts and messages, and the number of waiting messages', async () => {
  const { server, clock, endpoint, document } = await start()
  const [good, bad] = [await receiving(), await receiving(answering(500))]
  for (const { url } of [good, bad]) await endpoint(url)
  await document('d')
  const said = (name: string) => metric(server, `weft_webhook_${name}`)
  await eventually(async () => (await said('messages_total{outcome="succeeded"}')) === 1)
  await eventually(async () => (await said('attempts_total{outcome="failed"}')) === 1)
  clock.advance(3_000)
  await eventually(async () => {
    clock.advance(1)
    return (await said('pending_messages')) === 1
  })
  expect(await said('oldest_pending_seconds')).toBeGreaterThanOrEqual(3)
  expect(await said('attempt_duration_seconds_count')).toBe(2)
})

it('[HOOK-223] in the metrics, reports messages that fail because their endpoint is disabled', async () => {
  const { server, endpoint, document } = await start()
  const gone = await receiving(answering(410))
  await endpoint(gone.url)
  await document('d')
  await eventually(
    async () => (await metric(server, 'weft_webhook_messages_total{outcome="disabled"}')) === 1,
  )
})

it('[HOOK-224] at shutdown, aborts a running attempt, and repeats it after the next start with the same webhook-id', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-hooks-'))
  const receiver = await HookReceiver.start(hanging)
  const options = {
    dataDir: data,
    engine: 'level',
    webhookAllowlist: ['127.0.0.1'],
    shutdownSeconds: 1,
  } as const
  try {
    const before = await startTestServer(options)
    const calls = callsOf(before)
    await calls.begin()
    const id = await calls.endpoint(receiver.url)
    await calls.document('d')
    await eventually(() => receiver.hooks.length === 1)
    await before.stop()
    receiver.behavior = answering(200)
    const after = await startTestServer(options)
    const log = async () => (await callsOf(after).log(id)).deliveries
    await eventually(async () => (await log())[0]?.status === 'succeeded')
    expect(receiver.ids[1]).toBe(receiver.ids[0])
    expect((await log())[0]?.attempts).toHaveLength(1)
    await after.stop()
  } finally {
    await receiver.stop()
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  }
})
