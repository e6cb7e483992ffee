import { expect, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { answering, hanging, hookTests, type ShownDelivery } from '../../support/servers/webhook-servers.ts'

const second = 1_000
const hour = 3_600_000
/** Interval at which the server polls for due attempts. */
const poll = second
const delays = [5 * second, 300 * second, 1_800 * second, 2 * hour, 5 * hour, 10 * hour, 10 * hour]

const { start, receiving } = hookTests()

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `d${index}`)

it('[HOOK-201] delivers events to an endpoint in order, each event once', async () => {
  const { endpoint, document, log } = await start()
  const receiver = await receiving()
  const id = await endpoint(receiver.url, { filterTypes: ['document.create'] })
  for (const name of names(100)) await document(name)
  await eventually(() => receiver.hooks.length >= 100)
  expect(receiver.documentIds).toEqual(names(100))
  expect(new Set(receiver.ids).size).toBe(100)
  await eventually(async () => (await log(id, { status: 'succeeded', limit: 250 })).deliveries.length === 100)
  expect(receiver.hooks).toHaveLength(100)
})

it('[HOOK-202] makes eight attempts with the same webhook-id, at the delays of the schedule', async () => {
  const { clock, endpoint, document, log } = await start()
  const receiver = await receiving(answering(500))
  const id = await endpoint(receiver.url)
  const began = clock.now()
  await document('d')
  await eventually(() => receiver.ids.length === 1)
  const [messageId] = receiver.ids
  const sent = (): number => receiver.ids.filter((each) => each === messageId).length
  const delivery = async () =>
    (await log(id)).deliveries.find((each) => each.messageId === messageId) as ShownDelivery
  for (const [failures, delay] of delays.entries()) {
    await eventually(async () => (await delivery()).attempts.length === failures + 1)
    const next = Date.parse((await delivery()).nextAttemptAt ?? '') - clock.now()
    expect(next).toBeGreaterThanOrEqual(delay * 0.9)
    expect(next).toBeLessThanOrEqual(delay * 1.1)
    // The attempt is not made early, although its endpoint is served.
    clock.advance(next - 1)
    await document(`another ${failures}`)
    await eventually(() => receiver.documentIds.includes(`another ${failures}`))
    expect(sent()).toBe(failures + 1)
    clock.advance(poll)
    await eventually(() => sent() === failures + 2)
  }
  await eventually(async () => (await delivery()).attempts.length === 8)
  expect(await delivery()).toMatchObject({ status: 'failed', nextAttemptAt: null, reason: null })
  expect((await delivery()).attempts.map(({ httpCode }) => httpCode)).toEqual(Array(8).fill(500))
  expect(clock.now() - began).toBeGreaterThan(24 * hour)
})

it('[HOOK-203] reports an exhausted message to other endpoints, but not to the failed one, and does not report a failed report', async () => {
  const { clock, endpoint, document, log } = await start()
  const [failing, other, bystander] = [
    await receiving(answering(503)),
    await receiving(answering(500)),
    await receiving(),
  ]
  const filterTypes = ['document.create', 'message.attempt.exhausted']
  const id = await endpoint(failing.url, { filterTypes })
  const told = await endpoint(other.url, { filterTypes: ['message.attempt.exhausted'] })
  const bystanding = await endpoint(bystander.url, { filterTypes: ['message.attempt.exhausted'] })
  await document('d')
  /**
   * Advances the clock while it waits. A later poll makes an attempt whose lease ended with the time jump.
   */
  const attempted = (endpointId: string, attempts: number): Promise<void> =>
    eventually(async () => {
      clock.advance(poll)
      return ((await log(endpointId)).deliveries[0]?.attempts.length ?? 0) >= attempts
    })
  for (let attempt = 1; attempt <= 8; attempt++) {
    await attempted(id, attempt)
    clock.advance(11 * hour)
  }
  await eventually(() => {
    clock.advance(poll)
    return bystander.hooks.length > 0
  })
  const [{ data }] = bystander.bodies as [{ data: object }]
  const [messageId] = failing.ids
  expect(data).toMatchObject({ endpointId: id, messageId, eventType: 'document.create', attempts: 8 })
  // The other endpoint fails to receive this event, and no endpoint gets an event about that.
  for (let attempt = 1; attempt <= 8; attempt++) {
    // Waits for the record of the attempt and not for the request, because the next one is due after the
    // record.
    await attempted(told, attempt)
    clock.advance(11 * hour)
  }
  // An attempt whose lease ended when the time jumped may have been made twice.
  expect(new Set(other.ids).size).toBe(1)
  await document('e')
  await eventually(() => failing.documentIds.includes('e'))
  expect(failing.bodies.every(({ event }) => event === 'document.create')).toBe(true)
  expect((await log(bystanding)).deliveries).toHaveLength(1)
})

it('[HOOK-204] immediately disables an endpoint that answers 410, and fails its waiting messages', async () => {
  const { endpoint, endpoints, update, document, log, recover } = await start()
  const receiver = await receiving(answering(410))
  const id = await endpoint(receiver.url)
  await document('d')
  await eventually(async () => (await endpoints())[0]?.disabled === true)
  await eventually(async () => (await log(id, { status: 'failed' })).deliveries.length === 1)
  expect((await log(id)).deliveries[0]).toMatchObject({ attempts: [{ httpCode: 410 }] })
  await document('e')
  receiver.behavior = answering(204)
  await update(id, { disabled: false })
  await document('f')
  await eventually(() => receiver.documentIds.includes('f'))
  expect(receiver.documentIds).toEqual(['d', 'f'])
  expect(await recover(id)).toBe(1)
  await eventually(() => receiver.documentIds.length === 3)
  expect(receiver.ids[2]).toBe(receiver.ids[0])
})

it('[HOOK-205] disables an endpoint after five days of failures, counted from the first failure since its last success or since it was enabled', async () => {
  const { clock, endpoint, endpoints, update, document, log } = await start()
  const receiver = await receiving(answering(500))
  const id = await endpoint(receiver.url)
  const isDisabled = async () => (await endpoints())[0]?.disabled
  const failOnce = async (name: string) => {
    await document(name)
    await eventually(() => receiver.documentIds.includes(name))
    // An attempt fails when the clock passes its deadline.
    await eventually(async () => (await log(id)).deliveries[0]?.attempts.length !== 0)
  }
  const days = async (count: number, name: string) => {
    clock.advance(count * 24 * hour)
    await failOnce(name)
  }
  await failOnce('first')
  await days(4.9, 'still enabled')
  receiver.behavior = answering(200)
  await days(0, 'a success')
  receiver.behavior = answering(500)
  await days(0.2, 'a failure')
  await days(4.9, 'enabled all the same')
  expect(await isDisabled()).toBe(false)
  clock.advance(0.2 * 24 * hour)
  await eventually(async () => (await isDisabled()) === true)
  await update(id, { disabled: false })
  await days(0, 'enabled again')
  await days(4.9, 'and still')
  expect(await isDisabled()).toBe(false)
  clock.advance(0.2 * 24 * hour)
  await eventually(async () => (await isDisabled()) === true)
})

it('[HOOK-206] limits the deliveries per second to the `rateLimit` of the endpoint', async () => {
  const { clock, endpoint, document } = await start()
  const times: number[] = []
  const receiver = await receiving((response) => {
    times.push(clock.now())
    response.writeHead(200).end()
  })
  await endpoint(receiver.url, { rateLimit: 4 })
  for (const name of names(20)) await document(name)
  await eventually(() => {
    clock.advance(20)
    return times.length === 20
  })
  const inSecondFrom = (start: number): number =>
    times.filter((time) => time >= start && time < start + second).length
  expect(Math.max(...times.map(inSecondFrom))).toBe(4)
  expect(receiver.documentIds).toEqual(names(20))
})

it('[HOOK-207] delivers to other endpoints while a receiver hangs', async () => {
  const { endpoint, document } = await start()
  const [dead, live] = [await receiving(hanging), await receiving()]
  for (let count = 0; count < 70; count++) await endpoint(dead.url, { filterTypes: ['document.create'] })
  await endpoint(live.url, { filterTypes: ['document.create'] })
  for (const name of names(3)) {
    await document(name)
    await eventually(() => live.documentIds.includes(name))
  }
  expect(dead.hooks.length).toBeLessThanOrEqual(70)
})

it('[HOOK-208] sends later messages before a message that waits for its next attempt', async () => {
  const { clock, endpoint, document, log } = await start()
  const receiver = await receiving(answering(500))
  const id = await endpoint(receiver.url)
  await document('first')
  await eventually(() => receiver.hooks.length === 1)
  receiver.behavior = answering(200)
  await document('second')
  // The next attempt is due after the record of the first one.
  await eventually(
    async () =>
      receiver.hooks.length === 2 &&
      (await log(id)).deliveries.every(({ attempts }) => attempts.length === 1),
  )
  clock.advance(6 * second)
  await eventually(() => receiver.hooks.length === 3)
  expect(receiver.documentIds).toEqual(['first', 'second', 'first'])
})

it('[HOOK-209] sends a test event to the endpoint that the call names, even if the filters of the endpoint exclude it, and to no other', async () => {
  const { server, endpoint, update, test } = await start()
  const [receiver, other] = [await receiving(), await receiving()]
  const id = await endpoint(receiver.url, { filterTypes: ['comment.add'], channels: ['elsewhere'] })
  await endpoint(other.url)
  const messageIds = [
    await test(id, { waitSeconds: 10 }),
    await test(id, { waitSeconds: 10, eventType: 'comment.delete' }),
  ]
  expect(receiver.ids).toEqual(messageIds)
  expect(receiver.bodies).toMatchObject([
    { event: 'webhook.test', data: { test: true } },
    { event: 'comment.delete', data: { test: true } },
  ])
  expect(other.hooks).toHaveLength(0)
  await update(id, { disabled: true })
  const refused = await server.post('/v2/workspace/advancedwebhook/endpoints/test', { endpointId: id })
  expect(refused.body.error?.status).toBe('FAILED_PRECONDITION')
})

it('[HOOK-209] a test event waits for its first attempt, and returns its outcome', async () => {
  const { server, endpoint } = await start()
  const accepting = await receiving()
  const failing = await receiving(answering(500))
  const waiting = await receiving(hanging)
  const outcomeAt = async ({ url }: { readonly url: string }, waitSeconds: number) => {
    const data = { endpointId: await endpoint(url), waitSeconds }
    const { body } = await server.post('/v2/workspace/advancedwebhook/endpoints/test', data)
    return body.result
  }
  expect(await outcomeAt(accepting, 10)).toMatchObject({
    message: 'The receiver has accepted the test message.',
    data: { delivery: { status: 'succeeded', attempts: [{ httpCode: 200, error: null }] } },
  })
  expect(await outcomeAt(failing, 10)).toMatchObject({
    message: expect.stringMatching(/^The test message was not accepted: .*500/),
    data: { delivery: { status: 'pending', attempts: [{ httpCode: 500 }] } },
  })
  expect(await outcomeAt(waiting, 1)).toMatchObject({
    message: 'The test message is being sent.',
    data: { delivery: { status: 'pending', attempts: [] } },
  })
})
