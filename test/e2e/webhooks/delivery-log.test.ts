import { expect, it } from 'vitest'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { dataOf } from '../../support/servers/server.ts'
import { answering, hanging, hookTests, organizationId } from '../../support/servers/webhook-servers.ts'

const second = 1_000
const day = 86_400_000

const { start, receiving } = hookTests()

it('[HOOK-210] lists the messages of an endpoint in pages in both directions, the newest first', async () => {
  const { endpoint, document, log, server } = await start()
  const receiver = await receiving((response, { body }) =>
    // Without the space, the id of a message could contain it.
    response.writeHead(body.includes('bad ') ? 500 : 200).end(),
  )
  const id = await endpoint(receiver.url, { uid: 'billing', filterTypes: ['document.create'] })
  for (const name of ['a', 'bad b', 'c', 'bad d', 'e']) await document(name)
  await eventually(
    async () => (await log(id)).deliveries.filter(({ attempts }) => attempts.length === 1).length === 5,
  )
  const all = (await log('billing')).deliveries
  expect(all.map(({ messageId }) => messageId)).toEqual(receiver.ids.toReversed())
  expect(all.map(({ status }) => status)).toEqual([
    'succeeded',
    'pending',
    'succeeded',
    'pending',
    'succeeded',
  ])
  expect((await log(id, { status: 'pending' })).deliveries).toEqual([all[1], all[3]])
  expect((await log(id, { status: 'failed' })).deliveries).toEqual([])
  const first = await log(id, { limit: 2 })
  expect(first).toMatchObject({ deliveries: all.slice(0, 2), prevIterator: null, done: false })
  const middle = await log(id, { limit: 2, iterator: first.iterator })
  expect(middle).toMatchObject({ deliveries: all.slice(2, 4), done: false })
  const last = await log(id, { limit: 2, iterator: middle.iterator })
  expect(last).toMatchObject({ deliveries: all.slice(4), iterator: null, done: true })
  const back = await log(id, { limit: 2, iterator: last.prevIterator })
  expect(back.deliveries).toEqual(middle.deliveries)
  const top = await log(id, { limit: 2, iterator: back.prevIterator })
  expect(top).toMatchObject({ deliveries: first.deliveries, prevIterator: null })
  const path = '/v2/workspace/advancedwebhook/deliveries/get'
  const foreign = { endpointId: id, status: 'pending', iterator: first.iterator }
  expect((await server.post(path, foreign)).body.error?.status).toBe('INVALID_ARGUMENT')
  expect((await server.post(path, { endpointId: 'none' })).body.error?.status).toBe('NOT_FOUND')
})

it('[HOOK-211] sends a message again on request, with the same webhook-id', async () => {
  const { endpoint, document, log, resend, server } = await start()
  const receiver = await receiving()
  const id = await endpoint(receiver.url)
  await document('d')
  await eventually(async () => (await log(id, { status: 'succeeded' })).deliveries.length === 1)
  const [messageId] = receiver.ids as [string]
  await resend(id, messageId)
  await eventually(() => receiver.ids.length === 2)
  expect(receiver.ids).toEqual([messageId, messageId])
  await eventually(async () => (await log(id)).deliveries[0]?.attempts.length === 2)
  const data = { endpointId: id, messageId: 'msg_none' }
  const refused = await server.post('/v2/workspace/advancedwebhook/deliveries/resend', data)
  expect(refused.body.error?.status).toBe('NOT_FOUND')
})

it('[HOOK-212] sends again the messages that have failed since a given time, and no other messages', async () => {
  const { clock, endpoint, document, update, log, recover } = await start()
  const receiver = await receiving(answering(410))
  const id = await endpoint(receiver.url)
  const failed = async () => (await log(id, { status: 'failed' })).deliveries.length
  for (const name of ['before', 'at', 'after']) {
    await document(name)
    await eventually(async () => (await failed()) === receiver.hooks.length && receiver.hooks.length > 0)
    await update(id, { disabled: false })
    clock.advance(day)
  }
  receiver.behavior = answering(200)
  await document('succeeds')
  await eventually(() => receiver.hooks.length === 4)
  expect(await recover(id, clock.now() - 2 * day)).toBe(2)
  await eventually(() => receiver.hooks.length === 6)
  expect(receiver.documentIds.slice(4)).toEqual(['at', 'after'])
  await eventually(async () => (await failed()) === 1)
  expect(await recover(id, clock.now())).toBe(0)
})

it('[HOOK-211] rejects a call to send messages again to an endpoint that is disabled, or to a service that is off', async () => {
  const { endpoint, document, log, server, update } = await start()
  const receiver = await receiving()
  const id = await endpoint(receiver.url)
  await document('d')
  await eventually(async () => (await log(id, { status: 'succeeded' })).deliveries.length === 1)
  await update(id, { disabled: true })
  const [messageId] = receiver.ids
  const path = '/v2/workspace/advancedwebhook/deliveries'
  for (const endpointId of [id, 'basic-raw', 'store-0'])
    for (const [call, data] of [
      ['resend', { endpointId, messageId }],
      ['recover', { endpointId, since: 0 }],
    ] as const)
      expect((await server.post(`${path}/${call}`, data)).body.error?.status).toBe('FAILED_PRECONDITION')
  expect((await log(id)).deliveries.map(({ status }) => status)).toEqual(['succeeded'])
})

it('[HOOK-213] removes a sent message after the retention time, but keeps a message that waits to be sent', async () => {
  const { clock, endpoint, document, log, resend } = await start()
  const [receiver, failing] = [await receiving(), await receiving()]
  const [id, waiting] = [await endpoint(receiver.url), await endpoint(failing.url)]
  const succeeded = (count: number) => async () =>
    (await log(id, { status: 'succeeded' })).deliveries.length === count &&
    (await log(waiting, { status: 'succeeded' })).deliveries.length === count
  await document('old')
  await eventually(succeeded(1))
  clock.advance(29 * day)
  await document('new')
  await eventually(succeeded(2))
  failing.behavior = answering(500)
  await resend(waiting, failing.ids[0] as string)
  await eventually(async () => (await log(waiting)).deliveries[1]?.attempts.length === 2)
  clock.advance(2 * day)
  await eventually(async () => (await log(id)).deliveries.length === 1)
  expect((await log(waiting)).deliveries.map(({ status }) => status)).toEqual(['succeeded', 'pending'])
})

it('[HOOK-214] deletes the messages of a deleted organization or endpoint', async () => {
  const { server, engine, clock, endpoint, document, remove, log } = await start()
  const [receiver, dead] = [await receiving(), await receiving(hanging)]
  const [id, waiting] = [await endpoint(receiver.url), await endpoint(dead.url)]
  await document('secret-document')
  await eventually(async () => (await log(id, { status: 'succeeded' })).deliveries.length === 1)
  await eventually(() => dead.hooks.length === 1)
  dataOf(await server.post('/v2/organizations/delete', { organizationIds: [organizationId] }))
  expect((await log(id)).deliveries).toEqual([])
  expect((await log(waiting)).deliveries).toEqual([])
  dataOf(await server.post('/v2/organizations/add', { organizations: [{ organizationId }] }))
  await document('another')
  await eventually(async () => (await log(id, { status: 'succeeded' })).deliveries.length === 1)
  await remove(id)
  clock.advance(5 * second)
  const { workspaceId, apiKey } = server.credentials
  const left = () => engine.kv.scan(['deliveries', workspaceId, apiKey, id], { limit: 10 })
  await eventually(async () => (await left()).length === 0)
})

it('[HOOK-215] sends one crdt.update_data for all changes of an editor within a time window, with the author of the first change', async () => {
  const { server, clock, endpoint } = await start()
  const receiver = await receiving()
  await endpoint(receiver.url, { filterTypes: ['crdt.update_data'] })
  const connect = async (editorId: string, userId: string) =>
    RawClient.connect(
      `${server.wsUrl}/sync/${organizationId}/d/${editorId}?token=${await server.token(userId)}`,
    )
  const type = async (client: RawClient, first: number, count: number) => {
    for (let number = first; number < first + count; number++) {
      client.sendUpdate(typed('x', number))
      await client.roundTrip()
    }
  }
  await type(await connect('main', 'ann'), 1, 3)
  await type(await connect('main', 'bob'), 10, 1)
  await type(await connect('aside', 'bob'), 20, 2)
  expect(receiver.hooks).toHaveLength(0)
  clock.advance(5 * second)
  await eventually(() => receiver.hooks.length === 2)
  const told = receiver.bodies.map(({ data }) => (data as { editorId: string }).editorId)
  expect(told.toSorted()).toEqual(['aside', 'main'])
  await type(await connect('main', 'cy'), 30, 1)
  clock.advance(5 * second)
  await eventually(() => receiver.hooks.length === 3)
})

it('[ACC-10] hides the messages of an API key from another API key', async () => {
  const adminToken = 'an-admin-token-of-tests'
  const { server, endpoint, document, log } = await start({ adminToken })
  const receiver = await receiving()
  const id = await endpoint(receiver.url)
  await document('d')
  await eventually(async () => (await log(id, { status: 'succeeded' })).deliveries.length === 1)
  const made = await server.post(
    '/v2/workspace/create',
    { ownerEmail: 'ada@example.com' },
    { 'x-service-admin-token': adminToken },
  )
  const { apiKey, apiKeyAuthToken } = dataOf(made) as { apiKey: string; apiKeyAuthToken: string }
  const headers = { 'x-service-api-key': apiKey, 'x-service-auth-token': apiKeyAuthToken }
  const post = (path: string, data: object) => server.post(`/v2/workspace/${path}`, data, headers)
  dataOf(await post('advancedwebhookconfig/update', { isEnabled: true }))
  const webhookServiceConfig = { authToken: 'secret', rawNotificationUrl: receiver.url }
  dataOf(await post('webhookconfig/update', { useWebhookService: true, webhookServiceConfig }))
  const [messageId] = receiver.ids
  const calls: readonly (readonly [string, object])[] = [
    ['advancedwebhook/deliveries/get', { endpointId: id }],
    ['advancedwebhook/deliveries/resend', { endpointId: id, messageId }],
    ['advancedwebhook/deliveries/recover', { endpointId: id, since: 0 }],
    ['advancedwebhook/endpoints/test', { endpointId: id }],
    ['advancedwebhook/deliveries/resend', { endpointId: 'basic-raw', messageId }],
  ]
  for (const [path, data] of calls) expect((await post(path, data)).body.error?.status).toBe('NOT_FOUND')
  expect(receiver.hooks).toHaveLength(1)
})
