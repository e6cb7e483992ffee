import pino from 'pino'
import { expect, it } from 'vitest'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { answering, type Behavior, hanging } from '../../support/clients/webhook-receiver.ts'
import { list } from '../../support/data/update-builder.ts'
import {
  askedIn,
  askedOf,
  callbackTests,
  deciding,
  json,
  organizationId,
  send,
} from '../../support/servers/callback-servers.ts'
import { dataOf, metric } from '../../support/servers/server.ts'
import { newKey, webhookOptions } from '../../support/servers/webhooks.ts'

const { backend, start } = callbackTests()
const open = { defaultAccess: 'public' } as const
const text = (data: string) => ({ type: 'text', data })

it('[CALL-13] pauses a callback that fails, and continues after one call has succeeded', async () => {
  const { configure, connect, read, server } = await start(open)
  const receiver = await backend(answering(500))
  await configure({ load: { url: receiver.url, timeoutMs: 100 } })
  for (let call = 1; call <= 5; call += 1) await (await connect(`failing-${call}`)).closed
  const before = receiver.hooks.length
  for (let call = 1; call <= 10; call += 1) await (await connect(`paused-${call}`)).closed
  expect(receiver.hooks).toHaveLength(before)
  expect(await metric(server, 'weft_callback_breakers_open{callback="load"}')).toBe(1)
  expect(await metric(server, 'weft_callback_calls_total{callback="load",result="paused"}')).toBe(10)
  receiver.behavior = json(text('back'))
  await eventually(async () => {
    const client = await connect('back')
    return (await Promise.race([client.closed, read(client)])) === 'back'
  })
  expect(await read(await connect('again'))).toBe('back')
  expect(await metric(server, 'weft_callback_breakers_open{callback="load"}')).toBe(0)
})

it('[CALL-16] lets calls beyond the limit of an API key wait, and fails them when their time has passed', async () => {
  const { configure, connect, read } = await start(open)
  let atOnce = 0
  let most = 0
  const receiver = await backend((response) => {
    atOnce += 1
    most = Math.max(most, atOnce)
    setTimeout(() => {
      atOnce -= 1
      send(response, JSON.stringify(text('loaded')))
    }, 300)
  })
  await configure({ load: { url: receiver.url, timeoutMs: 10_000 } })
  const clients = await Promise.all(Array.from({ length: 20 }, (_, index) => connect(`d-${index}`)))
  for (const client of clients) expect(await read(client)).toBe('loaded')
  expect(most).toBe(8)
  await configure({ load: { url: receiver.url, timeoutMs: 500 } })
  const late = await Promise.all(Array.from({ length: 20 }, (_, index) => connect(`late-${index}`)))
  const outcomes = await Promise.all(
    late.map((client) => Promise.race([client.closed.then(({ code }) => code), read(client)])),
  )
  expect(outcomes).toContain('loaded')
  expect(outcomes.filter((outcome) => outcome === 1013).length).toBeGreaterThan(3)
})

/** Connects, and waits until the client has the content. */
async function visit(url: string): Promise<void> {
  const client = await RawClient.connect(url)
  await client.roundTrip()
  client.end()
}

it('[CALL-14] does not delay other API keys, and documents that need no call, while callbacks hang', async () => {
  const { configure, connect, call, server } = await start({ ...open, ...webhookOptions })
  const { apiKey, authToken } = await newKey(server)
  const headers = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
  const editor = { organizationId, documentId: 'there', editorId: 'main', ...text('kept') }
  await call('/v2/crdt/add', editor)
  await server.post('/v2/crdt/add', editor, headers)
  const resources = [{ type: 'document', id: 'there', organizationId, accessRole: 'editor' }] as const
  const answer = await server.post(
    '/v2/auth/generate_token',
    { userId: 'neighbor', userProperties: { name: 'n', email: 'n@example.com' } },
    headers,
  )
  const { token } = dataOf(answer) as { token: string }
  const own = await server.token('ada', { resources })
  const urls = [token, own].map((each) => `${server.wsUrl}/sync/${organizationId}/there/main?token=${each}`)
  const receiver = await backend(hanging)
  await configure({
    load: { url: receiver.url, timeoutMs: 30_000 },
    authorize: { url: receiver.url, timeoutMs: 30_000 },
  })
  const waiting = await Promise.all(list(100, (index) => connect(`hanging-${index}`, `user-${index}`)))
  const firstEnd = Promise.race(waiting.map(({ closed }) => closed))
  await eventually(() => receiver.hooks.length >= 64)
  const visits = async (): Promise<string> => {
    for (let round = 0; round < 8; round += 1) for (const url of urls) await visit(url)
    return 'made while all calls hang'
  }
  expect(await Promise.race([visits(), firstEnd])).toBe('made while all calls hang')
  expect(askedOf(receiver).every(({ documentId }) => documentId !== 'there')).toBe(true)
})

it('[CALL-73] answers in time although the backends of several other API keys hang', async () => {
  const { configure, connect, read, server } = await start({ ...open, ...webhookOptions })
  const hangs = await backend(hanging)
  for (const { apiKey, authToken } of await Promise.all(Array.from({ length: 4 }, () => newKey(server)))) {
    const headers = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
    const load = { url: hangs.url, timeoutMs: 30_000 }
    await server.post('/v2/workspace/callbacks/update', { load }, headers)
    // 4 × 8 calls would take all 32 slots, and one call of each key waits.
    for (let index = 0; index < 9; index += 1) {
      const editor = { organizationId, documentId: `hanging-${index}`, editorId: 'main' }
      void server.post('/v2/crdt/get', editor, headers).catch(() => null)
    }
  }
  await eventually(() => hangs.hooks.length >= 24)
  const answers = await backend(json(text('loaded')))
  await configure({ load: { url: answers.url, timeoutMs: 5_000 } })
  const clients = await Promise.all(Array.from({ length: 10 }, (_, index) => connect(`quick-${index}`)))
  for (const client of clients) expect(await read(client)).toBe('loaded')
})

it('[CALL-74] pauses a callback whose responses have the wrong form, but not for one bad document', async () => {
  const { configure, connect, server, call } = await start(open)
  const receiver = await backend(json({ wrong: true }))
  await configure({ load: { url: receiver.url } })
  for (let index = 0; index < 8; index += 1) await (await connect('bad')).closed
  expect(receiver.hooks).toHaveLength(8)
  for (let index = 0; index < 4; index += 1) await (await connect(`garbage-${index}`)).closed
  expect(receiver.hooks).toHaveLength(12)
  for (let index = 0; index < 5; index += 1) await (await connect(`paused-${index}`)).closed
  expect(receiver.hooks).toHaveLength(12)
  expect(await metric(server, 'weft_callback_breakers_open{callback="load"}')).toBe(1)
  receiver.behavior = json(text('right'))
  const editor = { organizationId, documentId: 'bad', editorId: 'main' }
  await eventually(async () => (await call('/v2/crdt/get', editor).catch(() => null)) !== null)
})

it('[CALL-15] counts calls, and logs repeated failures in one line without the URL', async () => {
  const lines: string[] = []
  const { configure, connect, server } = await start(
    open,
    pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
  )
  const receiver = await backend(json({ wrong: true }))
  await configure({ load: { url: `${receiver.url}?secret=hidden` } })
  for (let call = 0; call < 5; call += 1) await (await connect(`d-${call}`)).closed
  expect(await metric(server, 'weft_callback_calls_total{callback="load",result="invalid"}')).toBe(5)
  expect(await metric(server, 'weft_callback_duration_seconds_count{callback="load"}')).toBe(5)
  const failures = lines.filter((line) => line.includes('callback.failed'))
  expect(failures).toHaveLength(1)
  expect(JSON.parse(failures[0] ?? '')).toMatchObject({ callback: 'load', failure: 'invalid', times: 1 })
  expect(lines.join('')).not.toMatch(/hidden/)
})

/** Answers at once about users whose id starts with `quick`, and never about others. */
const hangsForOthers = deciding(({ user }) => ({ role: user?.userId.startsWith('quick') ? 'editor' : null }))
const hangingForOthers: Behavior = (response, hook) => {
  if (askedIn(hook).user?.userId.startsWith('quick')) hangsForOthers(response, hook)
}

it('[CALL-56] lets users in for whom the backend answers while it hangs for many others, also after these calls have failed', async () => {
  const { configure, connect, read, server } = await start()
  const receiver = await backend(hangingForOthers)
  await configure({ authorize: { url: receiver.url, timeoutMs: 100 } })
  // Calls for these users fail, and are paused.
  for (let round = 0; round < 6; round += 1)
    await Promise.all(
      Array.from({ length: 10 }, async (_, index) => (await connect('doc', `failed-${index}`)).closed),
    )
  const paused = await metric(server, 'weft_callback_calls_total{callback="authorize",result="paused"}')
  expect(paused).toBeGreaterThan(0)
  expect(await read(await connect('doc', 'quick-first'))).toBe('')
  // The timeout is longer than the test, so calls that hang keep their slots.
  await configure({ authorize: { url: receiver.url, timeoutMs: 30_000 } })
  const before = receiver.hooks.length
  // More calls than an API key may make at once, so calls that hang must not keep the slots of the others.
  const waiting = await Promise.all(list(100, (index) => connect('doc', `hanging-${index}`)))
  const firstEnd = Promise.race(waiting.map(({ closed }) => closed))
  const areCalled = eventually(() => receiver.hooks.length >= before + 100).then(
    () => 'called while all hang',
  )
  expect(await Promise.race([areCalled, firstEnd])).toBe('called while all hang')
  for (let index = 0; index < 20; index += 1)
    expect(await read(await connect('doc', `quick-${index}`))).toBe('')
  expect(await metric(server, 'weft_callback_calls_total{callback="authorize",result="answered"}')).toBe(21)
})

it('[CALL-56] does not let one user take the slots of others', async () => {
  const { configure, connect, read } = await start()
  const receiver = await backend(hangingForOthers)
  await configure({ authorize: { url: receiver.url, timeoutMs: 30_000 } })
  // More than the slots for calls of an API key that hang.
  await Promise.all(list(520, (index) => connect(`doc-${index}`, 'hanging')))
  await eventually(() => receiver.hooks.length > 0)
  for (let index = 0; index < 20; index += 1)
    expect(await read(await connect('doc', `quick-${index}`))).toBe('')
  expect(askedOf(receiver).filter(({ user }) => user?.userId === 'hanging')).toHaveLength(8)
})
