import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { dataOf, metric, type TestServer } from '../../support/servers/server.ts'
import {
  answering,
  type Behavior,
  type HookReceiver,
  hanging,
  hookTests,
  organizationId,
  type ShownDelivery,
} from '../../support/servers/webhook-servers.ts'
import { times } from '../../support/time/full-run.ts'

const second = 1_000
const hour = 3_600_000
const { start: startHooks, receiving } = hookTests()

type Hooks = Awaited<ReturnType<typeof startHooks>>

const start = (options: Parameters<typeof startHooks>[0] = {}): Promise<Hooks> =>
  startHooks({ updateEventWindowSeconds: 1, ...options })

const configure = async (server: TestServer, url: string, more: object = {}) =>
  dataOf(
    await server.post('/v2/workspace/callbacks/update', {
      store: { url, format: 'text', minSeconds: 10, ...more },
    }),
  )

const write = async (server: TestServer, documentId: string, data: string, editorId = 'main') =>
  dataOf(
    await server.post('/v2/crdt/update', {
      organizationId,
      documentId,
      editorId,
      type: 'text',
      data,
      upsert: true,
    }),
  ) as { version: string }

/** Lets time pass until `holds`. */
const passing = (clock: Hooks['clock'], holds: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(async () => {
    await pass(clock, 1)
    return holds()
  })

/** Lets time pass, with pauses for the server. */
async function pass(clock: Hooks['clock'], seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed++) {
    clock.advance(second)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const contentsOf = (receiver: HookReceiver): readonly unknown[] =>
  receiver.bodies.map(({ content }) => content)

/** The delivery log of the callback, over all its targets. */
async function logOf({ log }: Pick<Hooks, 'log'>): Promise<readonly ShownDelivery[]> {
  const pages = await Promise.all(Array.from({ length: 8 }, (_, index) => log(`store-${index}`)))
  return pages.flatMap(({ deliveries }) => deliveries)
}

it('[CALL-60] sends the content with its version after the first change, then at most once in minSeconds, and the last version at the end', async () => {
  const { server, clock } = await start()
  const receiver = await receiving()
  const times: number[] = []
  receiver.behavior = (response, { headers }) => {
    // The clock may advance between the start of the attempt and its arrival.
    times.push(Number(headers['webhook-timestamp']) * second)
    response.writeHead(204).end()
  }
  await configure(server, receiver.url)
  const began = clock.now()
  let last = await write(server, 'd', 'text 0')
  await passing(clock, () => receiver.hooks.length === 1)
  expect(clock.now() - began).toBeLessThanOrEqual(4 * second)
  expect(receiver.bodies[0]).toMatchObject({
    callback: 'store',
    apiKey: expect.any(String),
    organizationId,
    documentId: 'd',
    editorId: 'main',
    contentFormat: 'text',
    contentType: 'text',
    content: 'text 0',
    version: last.version,
  })
  for (let number = 1; number <= 45; number++) {
    last = await write(server, 'd', `text ${number}`)
    await pass(clock, 1)
  }
  await passing(clock, () => contentsOf(receiver).at(-1) === 'text 45')
  expect(receiver.bodies.at(-1)).toMatchObject({ version: last.version })
  const gaps = times.slice(1).map((at, index) => at - (times[index] as number))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(10 * second)
  expect(receiver.hooks.length).toBeGreaterThanOrEqual(4)
  await pass(clock, 30)
  expect(contentsOf(receiver).filter((content) => content === 'text 45')).toHaveLength(1)
})

it('[CALL-61] signs each request with the secret of the callbacks; its id names the version', async () => {
  const { server, clock } = await start()
  const receiver = await receiving()
  await configure(server, receiver.url)
  const { secret } = dataOf(await server.post('/v2/workspace/callbacks/secret/get', {})) as {
    secret: string
  }
  await write(server, 'd', 'a')
  await passing(clock, () => receiver.hooks.length === 1)
  receiver.behavior = answering(500)
  await write(server, 'd', 'b')
  await passing(clock, () => receiver.hooks.length === 3)
  for (const { body, headers } of receiver.hooks)
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body))
  expect(contentsOf(receiver)).toEqual(['a', 'b', 'b'])
  expect(receiver.ids[1]).toBe(receiver.ids[2])
  expect(receiver.ids[0]).not.toBe(receiver.ids[1])
})

it('[CALL-62] keeps one message for each editor while the receiver fails, repeats it without end, and sends the last version when the receiver answers', async () => {
  const hooks = await start()
  const { server, clock } = hooks
  const receiver = await receiving(answering(503))
  await configure(server, receiver.url)
  for (let round = 0; round < 4; round++)
    for (const name of ['a', 'b', 'c']) {
      await write(server, name, `${name} ${round}`)
      await pass(clock, 2)
    }
  await passing(clock, async () => (await logOf(hooks)).every(({ attempts }) => attempts.length > 0))
  expect((await logOf(hooks)).map(({ status }) => status)).toEqual(['pending', 'pending', 'pending'])
  const attempted = Math.max(...(await logOf(hooks)).map(({ attempts }) => attempts.length))
  for (let count = attempted + 1; count <= attempted + 10; count++) {
    clock.advance(11 * hour)
    await passing(clock, async () => (await logOf(hooks)).every(({ attempts }) => attempts.length >= count))
  }
  receiver.behavior = answering(200)
  receiver.hooks.length = 0
  clock.advance(11 * hour)
  await passing(clock, async () => (await logOf(hooks)).every(({ status }) => status === 'succeeded'))
  expect(contentsOf(receiver).toSorted()).toEqual(['a 3', 'b 3', 'c 3'])
})

it('[CALL-63] sends an editor again that changes while its request is in progress', async () => {
  const { server, clock } = await start()
  const held: (() => void)[] = []
  const receiver = await receiving((response) => {
    held.push(() => response.writeHead(200).end())
  })
  await configure(server, receiver.url)
  await write(server, 'd', 'old')
  await passing(clock, () => held.length === 1)
  await write(server, 'd', 'new')
  await pass(clock, 5)
  expect(held).toHaveLength(1)
  held[0]?.()
  await passing(clock, () => held.length === 2)
  held[1]?.()
  expect(contentsOf(receiver)).toEqual(['old', 'new'])
})

it('[CALL-64] leaves out content that is too large, and sends its version', async () => {
  const { server, clock } = await start({ maxWebhookContentBytes: 1024 })
  const receiver = await receiving()
  await configure(server, receiver.url)
  const { version } = await write(server, 'd', 'x'.repeat(2_000))
  await passing(clock, () => receiver.hooks.length === 1)
  expect(receiver.bodies[0]).toMatchObject({ content: null, contentOmitted: 'too-large', version })
})

it('[CALL-65] sends no branch and no deleted document', async () => {
  const hooks = await start()
  const { server, clock } = hooks
  const receiver = await receiving()
  await configure(server, receiver.url)
  await write(server, 'd', 'main')
  const at = { organizationId, documentId: 'd' }
  dataOf(
    await server.post('/v2/crdt/branches/create', { ...at, editorId: 'main', name: 'draft', userId: 'ann' }),
  )
  await write(server, 'd', 'branch', 'main@draft')
  await write(server, 'gone', 'x')
  const gone = { organizationId, documentIds: ['gone'] }
  dataOf(await server.post('/v2/organizations/documents/delete', gone))
  await passing(clock, async () => {
    const log = await logOf(hooks)
    return log.length === 3 && log.every(({ status }) => status === 'succeeded')
  })
  expect(contentsOf(receiver)).toEqual(['main'])
})

it('[CALL-66] sends nothing after the callback was removed, and removes its messages', async () => {
  const hooks = await start()
  const { server, clock } = hooks
  const receiver = await receiving(answering(500))
  await configure(server, receiver.url)
  await write(server, 'd', 'x')
  await passing(clock, () => receiver.hooks.length === 1)
  dataOf(await server.post('/v2/workspace/callbacks/update', { store: null }))
  await write(server, 'd', 'y')
  await passing(clock, async () => (await logOf(hooks)).length === 0)
  await pass(clock, 20)
  expect(receiver.hooks).toHaveLength(1)
  receiver.behavior = answering(200)
  await configure(server, receiver.url)
  await write(server, 'd', 'z')
  await passing(clock, () => receiver.hooks.length === 2)
  expect(contentsOf(receiver)).toEqual(['x', 'z'])
})

it('[CALL-67] sends a version again when a user requests it', async () => {
  const hooks = await start()
  const { server, clock } = hooks
  const receiver = await receiving()
  await configure(server, receiver.url)
  await write(server, 'd', 'x')
  await passing(clock, async () => (await logOf(hooks))[0]?.status === 'succeeded')
  const [{ messageId }] = (await logOf(hooks)) as [ShownDelivery]
  for (let index = 0; index < 8; index++)
    await hooks.resend(`store-${index}`, messageId).catch(() => undefined)
  await passing(clock, () => receiver.hooks.length === 2)
  expect(new Set(receiver.ids).size).toBe(1)
})

it('[CALL-77] sends the root that is configured', async () => {
  const { server, clock } = await start()
  const receiver = await receiving()
  expect(await configure(server, receiver.url, { contentKey: 'notes' })).toMatchObject({
    store: { contentKey: 'notes' },
  })
  const editor = { organizationId, documentId: 'd', editorId: 'main', type: 'text', upsert: true }
  for (const [contentKey, data] of Object.entries({ body: 'the body', notes: 'the notes' }))
    dataOf(await server.post('/v2/crdt/update', { ...editor, contentKey, data, newRoot: true }))
  await write(server, 'other', 'without notes')
  await passing(clock, () => receiver.hooks.length >= 2)
  const bodyOf = (documentId: string) => receiver.bodies.findLast((body) => body.documentId === documentId)
  await passing(clock, () => bodyOf('d')?.content === 'the notes')
  expect(bodyOf('d')).toMatchObject({ contentKey: 'notes' })
  expect(bodyOf('other')).toMatchObject({ content: null, contentOmitted: 'unreadable' })
})

it('[CALL-78] counts the calls of store by their results', async () => {
  const { server, clock } = await start()
  const receiver = await receiving(answering(503))
  await configure(server, receiver.url)
  const calls = (result: string) =>
    metric(server, `weft_callback_calls_total{callback="store",result="${result}"}`)
  await write(server, 'd', 'a')
  await passing(clock, async () => (await calls('status')) === 1)
  receiver.behavior = answering(200)
  await passing(clock, async () => (await calls('answered')) === 1)
  expect(await metric(server, 'weft_callback_duration_seconds_count{callback="store"}')).toBe(2)
  await configure(server, 'http://127.0.0.1:9/closed')
  await write(server, 'd', 'b')
  await passing(clock, async () => (await calls('unreachable')) === 1)
})

const moods: readonly Behavior[] = [answering(200), answering(204), answering(500), answering(410), hanging]

it(`[CALL-70] keeps the order of versions and the minimum time of each editor, and delivers the last version, for any changes and any receiver (seed ${seed})`, async () => {
  for (let run = 0; run < times(1, 10); run++) {
    const random = new Random(seed + run)
    const { server, clock } = await start()
    const arrivals: { readonly at: number; readonly documentId: string; readonly number: number }[] = []
    let mood = moods[0] as Behavior
    const receiver = await receiving((response, hook) => {
      const { documentId, content } = JSON.parse(hook.body) as { documentId: string; content: string }
      // The clock may advance between the start of the attempt and its arrival.
      const at = Number(hook.headers['webhook-timestamp']) * second
      arrivals.push({ at, documentId, number: Number(content) })
      mood(response, hook)
    })
    await configure(server, receiver.url, { minSeconds: 3 })
    const numbers = new Map<string, number>()
    for (let step = 0; step < 60; step++) {
      if (random.once(6)) mood = random.pick(moods)
      const name = `d${random.below(5)}`
      const number = (numbers.get(name) ?? 0) + 1
      numbers.set(name, number)
      await write(server, name, `${number}`)
      if (random.once(2)) await pass(clock, random.below(6))
    }
    mood = answering(200)
    const of = (name: string) => arrivals.filter(({ documentId }) => documentId === name)
    await eventually(
      async () => {
        // Attempts that hang end, and the last retries become due.
        clock.advance(20 * second)
        await pass(clock, 1)
        return [...numbers].every(([name, number]) => of(name).at(-1)?.number === number)
      },
      () => ({ seed, run }),
    )
    for (const name of numbers.keys()) {
      const arrived = of(name)
      expect(arrived.map(({ number }) => number)).toEqual(
        arrived.map(({ number }) => number).toSorted((a, b) => a - b),
      )
      const gaps = arrived.slice(1).map(({ at }, index) => at - (arrived[index]?.at ?? 0))
      expect(Math.min(Number.POSITIVE_INFINITY, ...gaps), `seed ${seed} run ${run}`).toBeGreaterThanOrEqual(
        3 * second,
      )
    }
  }
})

it('[CALL-71] does not delay edits and webhooks while the receiver of store hangs', async () => {
  const { server, clock, endpoint, document } = await start()
  const [hangingReceiver, other] = [await receiving(hanging), await receiving()]
  await endpoint(other.url, { filterTypes: ['document.create'] })
  await configure(server, hangingReceiver.url, { minSeconds: 1 })
  const repetitions = times(150, 400)
  for (let round = 0; round < repetitions; round++) {
    await write(server, `d${round % 40}`, `text ${round}`)
    if (round % 40 === 0) clock.advance(second)
  }
  // The test clock ends no call, so each edit was answered while calls were in progress.
  expect(hangingReceiver.hooks.length).toBeGreaterThan(3)
  await document('new')
  await eventually(() => other.documentIds.includes('new'))
})
