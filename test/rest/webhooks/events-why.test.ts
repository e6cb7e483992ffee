import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { explainEvent } from '../../../src/capabilities/webhooks/explain.ts'
import { activeTargets, targetIdOf, targetsOfEvent } from '../../../src/capabilities/webhooks/target.ts'
import type {
  AdvancedConfig,
  BasicConfig,
  EndpointRecord,
} from '../../../src/capabilities/webhooks/webhook-records.ts'
import { eventTypes } from '../../../src/core/events/outbound-event.ts'
import { eventually } from '../../support/clients/clients.ts'
import { runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const cwd = mkdtempSync(join(tmpdir(), 'weft-why-'))
let server: TestServer
let activityId: string

beforeAll(async () => {
  server = await startTestServer()
  const post = async (path: string, data: object) => dataOf(await server.post(path, data))
  await post('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true })
  const endpoint = (uid: string, data: object) =>
    post('/v2/workspace/advancedwebhook/endpoints/create', {
      url: `https://${uid}.example.com`,
      uid,
      ...data,
    })
  await endpoint('all', {})
  await endpoint('filtered', { filterTypes: ['comment.update'] })
  await endpoint('elsewhere', { channels: ['another-organization'] })
  await endpoint('here', { channels: ['plan'], filterTypes: ['comment.add'] })
  await endpoint('attempts', { channels: ['plan'], filterTypes: ['message.attempt.exhausted'] })
  await endpoint('off', { disabled: true })
  const document = { organizationId: 'acme', documentId: 'plan' }
  await post('/v2/crdt/add', { ...document, editorId: 'main', type: 'text', data: 'x' })
  const actionUser = { userId: 'ann', name: 'Ann' }
  const activities = [
    { id: 'joined', featureType: 'custom', actionType: 'huddle.join', actionUser, targetEntityId: 'h' },
    { id: 'signed', featureType: 'custom', actionType: 'document.sign_off', actionUser, targetEntityId: 'p' },
  ]
  await post('/v2/activities/add', { ...document, activities })
  activityId = 'joined'
}, 60_000)

afterAll(async () => {
  await server.stop()
  rmSync(cwd, { recursive: true, force: true, maxRetries: 20 })
})

const why = (...args: string[]) => {
  const { apiKey, authToken } = server.credentials
  return runCli(['events', 'why', ...args], cwd, {
    WEFT_URL: server.url,
    WEFT_API_KEY: apiKey,
    WEFT_AUTH_TOKEN: authToken,
  })
}

it('[RUN-13] weft events why explains for each endpoint why it gets an event or not', async () => {
  const { endpoints } = dataOf(await server.post('/v2/workspace/advancedwebhook/endpoints/get', {})) as {
    endpoints: { id: string; uid: string }[]
  }
  const reasons = async (...args: string[]) => {
    const { out } = await why(...args, '--json')
    const told = JSON.parse(out) as {
      type: string
      endpoints: { endpointId: string; reason: string | null }[]
    }
    const named = told.endpoints.map(({ endpointId, reason }) => [
      endpoints.find(({ id }) => id === endpointId)?.uid ?? endpointId,
      reason,
    ])
    return { type: told.type, ...(Object.fromEntries(named) as Record<string, string | null>) }
  }
  const channels = 'its channels have neither the organization nor the document'
  expect(await reasons('acme', activityId)).toEqual({
    type: 'huddle.join',
    'basic-raw': 'the basic webhook service is off',
    'basic-processed': 'the basic webhook service is off',
    all: null,
    filtered: 'its filterTypes do not have huddle.join',
    elsewhere: channels,
    here: 'its filterTypes do not have huddle.join',
    attempts: 'its filterTypes do not have huddle.join',
    off: 'the endpoint is disabled',
  })
  expect(await reasons('acme', '--type', 'comment.add', '--document', 'plan')).toMatchObject({
    all: null,
    here: null,
    elsewhere: channels,
  })
  expect(await reasons('acme', '--type', 'webhook.test')).toMatchObject({
    'basic-raw': 'a test is sent only to the endpoint that it names',
    all: 'a test is sent only to the endpoint that it names',
  })
  const unlessFailed = 'it is sent, unless the endpoint that failed is this one'
  const exhausted = 'message.attempt.exhausted'
  expect(await reasons('acme', '--type', exhausted, '--document', 'plan')).toEqual({
    type: exhausted,
    'basic-raw': 'the basic webhook service is off',
    'basic-processed': 'the basic webhook service is off',
    all: unlessFailed,
    filtered: `its filterTypes do not have ${exhausted}`,
    elsewhere: channels,
    here: `its filterTypes do not have ${exhausted}`,
    attempts: channels,
    off: 'the endpoint is disabled',
  })
  expect((await why('acme', '--type', exhausted, '--document', 'plan')).out).toMatch(
    /^message\.attempt\.exhausted of acme\n.* {2}would be sent .*it is sent, unless the endpoint that failed is this one/s,
  )
  expect(await reasons('acme', '--type', 'coment.add')).toMatchObject({
    all: 'Weft has no event of the type coment.add (did you mean comment.add?)',
  })
  expect(await reasons('acme', 'signed')).toMatchObject({
    all: 'Weft has no event of the type document.sign_off',
  })
  expect((await why('acme', activityId)).out).toMatch(
    /^huddle\.join of acme\/plan\n.* {2}does not match {17}basic-raw .*\n {2}matches the configuration now {2}\S+/s,
  )
  expect(await why('acme', 'unknown')).toMatchObject({
    code: 2,
    err: 'weft: the organization has no activity "unknown"; list them with /v2/activities/get\n',
  })
})

it('[RUN-13] weft events why names the event of each activity that has one, also of a deleted document', async () => {
  const post = async (path: string, data: object) => dataOf(await server.post(path, data))
  const document = { organizationId: 'deletions', documentId: 'plan' }
  const editor = { ...document, editorId: 'main' }
  await post('/v2/crdt/add', { ...editor, type: 'text', data: 'x' })
  await post('/v2/crdt/delete', { ...document, editorIds: ['main'] })
  const eventOf = async (actionType: string) => {
    const query = { organizationId: 'deletions', actionTypes: [actionType] }
    const get = async () => (await post('/v2/activities/get', query)) as { id: string }[]
    await eventually(async () => (await get()).length > 0)
    return (await why('deletions', (await get())[0]?.id ?? '')).out
  }
  expect(await eventOf('document.add')).toMatch(/^document\.create of deletions\/plan\n/)
  expect(await eventOf('crdt.editor_edit')).toMatch(/^crdt\.update_data of deletions\/plan\n/)
  expect(await eventOf('crdt.editor_delete')).toMatch(/^crdt\.delete_data of deletions\/plan\n/)
  await post('/v2/organizations/documents/delete', { organizationId: 'deletions', documentIds: ['plan'] })
  const ofDocument = { url: 'https://d.example.com', channels: ['plan'], filterTypes: ['document.delete'] }
  const { id } = (await post('/v2/workspace/advancedwebhook/endpoints/create', ofDocument)) as {
    id: string
  }
  const gets = new RegExp(`matches the configuration now +${id}\\n`)
  expect(await eventOf('document.delete')).toMatch(gets)
  const wouldGet = new RegExp(`would be sent +${id}\\n`)
  const { out } = await why('deletions', '--type', 'document.delete', '--document', 'plan')
  expect(out).toMatch(wouldGet)
})

it('[RUN-16] weft events why searches all organizations of the API key for an activity', async () => {
  expect((await why(activityId)).out).toMatch(/^huddle\.join of acme\/plan\n/)
  expect(await why('unknown')).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(
      /^weft: no organization has an activity "unknown"; [^\n]*weft events why <organization> <id>[^\n]*\n$/,
    ),
  })
  expect(await why('acme')).toMatchObject({ code: 2, err: expect.stringMatching(/"acme".*--type/) })
  expect(await why()).toMatchObject({ code: 2, out: '' })
  const again = { id: 'joined', featureType: 'custom', actionType: 'huddle.join', targetEntityId: 'h' }
  const activities = [{ ...again, actionUser: { userId: 'ann', name: 'Ann' } }]
  const other = { organizationId: 'second', documentId: 'other' }
  dataOf(await server.post('/v2/crdt/add', { ...other, editorId: 'main', type: 'text', data: 'x' }))
  dataOf(await server.post('/v2/activities/add', { ...other, activities }))
  expect(await why('joined')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/acme.*second.*name the organization/),
  })
})

it('[RUN-16] weft events why rejects an unknown organization or document', async () => {
  for (const args of [
    ['zz', '--document', 'plan'],
    ['acme', '--document', 'zz'],
  ])
    expect(await why(...args, '--type', 'comment.add')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^weft: NOT_FOUND: [^\n]*"zz"[^\n]*; `weft doc ls`[^\n]*\n$/),
    })
})

it('[RUN-16] weft events why explains a message by its attempts, and shows the last failure of an endpoint', async () => {
  const post = async (path: string, data: object) =>
    dataOf(await server.post(`/v2/workspace/advancedwebhook/${path}`, data))
  expect((await why('acme', '--type', 'comment.add', '--document', 'plan')).out).toMatch(
    / {2}would be sent {6}\S+\n/,
  )
  const { messageId } = (await post('endpoints/test', { endpointId: 'all' })) as { messageId: string }
  const failed = async () => {
    const page = (await post('deliveries/get', { endpointId: 'all' })) as {
      deliveries: readonly { readonly attempts: readonly unknown[] }[]
    }
    return (page.deliveries[0]?.attempts ?? []).length > 0
  }
  await eventually(failed)
  for (const args of [[messageId], ['acme', messageId]]) {
    const { out, code } = await why(...args)
    expect(code).toBe(0)
    expect(out).toMatch(
      new RegExp(
        `^webhook\\.test as ${messageId}\\n  pending at the endpoint \\S+\\n(  \\S+Z  failed: .+\\n)+  the next attempt is at \\S+Z\\n$`,
      ),
    )
  }
  const told = JSON.parse((await why(messageId, '--json')).out) as { readonly attempts: readonly unknown[] }
  expect(told).toMatchObject({ messageId, eventType: 'webhook.test' })
  expect(told.attempts.length).toBeGreaterThan(0)
  expect((await why('acme', '--type', 'comment.add', '--document', 'plan')).out).toMatch(
    / {2}would be sent {6}\S+ +its last attempt failed at \S+Z: .+\n/,
  )
  expect(await why('msg_unknown')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^weft: no webhook endpoint has the message "msg_unknown"; [^\n]+\n$/),
  })
})

it('[RUN-16] weft events why reads the URL and the credentials from separate places', async () => {
  const { apiKey, authToken } = server.credentials
  const dataDir = join(cwd, 'data-of-the-server')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'credentials.json'), JSON.stringify(server.credentials))
  const args = ['events', 'why', 'acme', '--type', 'comment.add', '--document', 'plan']
  const fromFile = await runCli([...args, '--data-dir', dataDir], cwd, { WEFT_URL: server.url })
  expect(fromFile).toMatchObject({ code: 0, out: expect.stringMatching(/^comment\.add of acme\/plan\n/) })
  expect(await runCli(args, cwd, { WEFT_API_KEY: apiKey, WEFT_AUTH_TOKEN: authToken })).toMatchObject({
    code: 2,
    err: 'weft: the URL of a running server is missing; name it: --url URL, or WEFT_URL\n',
  })
})

it('[RUN-20] weft events why --endpoint explains which endpoints get the event that reports a failure of this endpoint', async () => {
  const exhausted = ['acme', '--type', 'message.attempt.exhausted']
  const watch = { url: 'https://watch.example.com', filterTypes: ['message.attempt.exhausted'], uid: 'watch' }
  dataOf(await server.post('/v2/workspace/advancedwebhook/endpoints/create', watch))
  const { endpoints } = dataOf(await server.post('/v2/workspace/advancedwebhook/endpoints/get', {})) as {
    endpoints: { id: string; uid: string }[]
  }
  const idOf = (uid: string) => endpoints.find((each) => each.uid === uid)?.id ?? ''
  const reasonsOf = async (endpoint: string) => {
    const { out } = await why(...exhausted, '--endpoint', endpoint, '--json')
    const told = JSON.parse(out) as { endpoints: { endpointId: string; isSent: boolean; reason: string }[] }
    return ['all', 'watch', 'basic-raw'].map((uid) => {
      const found = told.endpoints.find(({ endpointId }) => endpointId === (idOf(uid) || uid))
      return found?.isSent === true ? 'sent' : found?.reason
    })
  }
  const [own, off] = ['it is about a failure of this endpoint', 'the basic webhook service is off']
  expect(await reasonsOf(idOf('all'))).toEqual([own, 'sent', off])
  expect(await reasonsOf(idOf('watch'))).toEqual(['sent', own, off])
  expect(await reasonsOf('basic-raw')).toEqual(['sent', 'sent', off])
  expect(await why(...exhausted, '--endpoint', 'ep_unknown')).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /^weft: NOT_FOUND: the endpoint "ep_unknown" does not exist; list them [^\n]+\n$/,
    ),
  })
  expect(await why('acme', '--type', 'comment.add', '--endpoint', 'basic-raw')).toMatchObject({
    code: 2,
    err: 'weft: --endpoint needs --type message.attempt.exhausted\n',
  })
})

it.each(eventTypes)('[RUN-13] weft events why lists exactly the endpoints that get %s', (type) => {
  const scope = { workspaceId: 'w', apiKey: 'k', organizationId: 'acme' }
  const isOfOrganization = type === 'message.attempt.exhausted'
  const triggers = Object.fromEntries(eventTypes.map((name) => [name, true]))
  const service = { rawNotificationUrl: 'https://raw.example', processedNotificationUrl: '', triggers }
  const basic = { useWebhookService: true, webhookServiceConfig: service } as unknown as BasicConfig
  const advanced = { isEnabled: true } as AdvancedConfig
  const endpoints = [
    { id: 'all', filterTypes: null, channels: null },
    { id: 'filtered', filterTypes: [type], channels: ['acme'] },
    { id: 'document', filterTypes: null, channels: ['plan'] },
    { id: 'others', filterTypes: ['another.type'], channels: null },
  ].map((each) => ({ ...each, disabled: false, disabledBy: null }) as unknown as EndpointRecord)
  const explained = explainEvent(
    { basic, advanced, endpoints: endpoints.map((each) => ({ ...each, disabled: false })), store: null },
    { type, organizationId: 'acme', documentId: 'plan', failedEndpointId: 'all' },
  )
  const event = { type, scope, documentId: isOfOrganization ? null : 'plan', data: { endpointId: 'all' } }
  const sent = targetsOfEvent(activeTargets({ basic, advanced, endpoints, callbacks: null }), event)
  expect(explained.filter(({ isSent }) => isSent).map(({ endpointId }) => endpointId)).toEqual(
    sent.map(targetIdOf),
  )
  expect(explained.filter(({ isSent, reason }) => !isSent && reason === null)).toEqual([])
})

it('[RUN-13] weft events why states that the advanced service is off', async () => {
  const isEnabled = async (value: boolean) =>
    dataOf(await server.post('/v2/workspace/advancedwebhookconfig/update', { isEnabled: value }))
  await isEnabled(false)
  try {
    expect((await why('acme', '--type', 'comment.add', '--document', 'plan')).out).toMatch(
      /\n {2}would not be sent {2}advanced +the advanced webhook service is off\n$/,
    )
    expect((await why('acme', '--type', 'webhook.test')).out).toMatch(
      /\n {2}would not be sent {2}advanced +the advanced webhook service is off\n$/,
    )
    expect(await why('msg_unknown')).toMatchObject({
      code: 2,
      err: expect.stringContaining('the advanced webhook service is off'),
    })
  } finally {
    await isEnabled(true)
  }
})

it('[CALL-76] weft events why explains the callback store, with its last failure', async () => {
  const post = async (path: string, data: object) => dataOf(await server.post(path, data))
  const store = { url: 'http://127.0.0.1:9/store', format: 'text', minSeconds: 2 }
  await post('/v2/workspace/callbacks/update', { store })
  const storeIn = async (type: string) => {
    const { out } = await why('acme', '--type', type, '--document', 'plan', '--json')
    const { endpoints } = JSON.parse(out) as { endpoints: { endpointId: string }[] }
    return endpoints.find(({ endpointId }) => endpointId === 'store')
  }
  expect(await storeIn('comment.add')).toMatchObject({ isSent: false })
  const editor = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
  await post('/v2/crdt/update', { ...editor, type: 'text', data: 'changed' })
  await eventually(async () => 'lastFailure' in ((await storeIn('crdt.update_data')) ?? {}))
  expect(await storeIn('crdt.update_data')).toMatchObject({
    isSent: true,
    reason: 'the callback store gets the content of the editor, at most once in 2 s; it gets no branches',
  })
  await post('/v2/workspace/callbacks/delete', {})
  expect(await storeIn('crdt.update_data')).toBeUndefined()
})
