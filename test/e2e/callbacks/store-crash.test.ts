import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { startNodes } from '../../support/servers/node-servers.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { dataOf } from '../../support/servers/server.ts'
import {
  answering,
  type Behavior,
  HookReceiver,
  hanging,
  organizationId,
} from '../../support/servers/webhook-servers.ts'
import { times } from '../../support/time/full-run.ts'

const options = {
  WEFT_CALLS_PER_KEY: '0',
  WEFT_WEBHOOK_ALLOWLIST: '127.0.0.1',
  WEFT_UPDATE_EVENT_WINDOW_SECONDS: '1',
}
const rounds = times(1, 5)
const documents = Array.from({ length: times(6, 12) }, (_, index) => `d${index}`)
/** Leases of a killed process end within 10 s, the first retry is after 5 s, the second after 5 min. */
const patienceMs = 90_000

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const writing = (documentId: string, data: string) => ({
  organizationId,
  documentId,
  editorId: 'main',
  type: 'text',
  data,
  upsert: true,
})

/** Writes documents until the server ends. `numbers` contains the number of the last write of each document. */
async function write(server: ServerProcess, random: Random, numbers: Map<string, number>): Promise<void> {
  for (;;) {
    const documentId = random.pick(documents)
    const number = (numbers.get(documentId) ?? 0) + 1
    numbers.set(documentId, number)
    await server.post('/v2/crdt/update', writing(documentId, `${documentId} ${number}`))
  }
}

interface Received {
  readonly documentId: string
  readonly content: string | null
}

/** Returns the accepted contents of a receiver. */
const receivedBy = (bodies: readonly Record<string, unknown>[]): readonly Received[] =>
  bodies as unknown as readonly Received[]

const behaviors: readonly Behavior[] = [answering(200), answering(200), answering(500), hanging]

it(`[CALL-68] sends the last version of each editor after SIGKILLs, to a receiver that fails, hangs and is killed (seed ${seed})`, async () => {
  const random = new Random(seed)
  const data = await mkdtemp(join(tmpdir(), 'weft-store-'))
  ends.push(() => rm(data, { recursive: true, force: true, maxRetries: 20 }))
  const numbers = new Map<string, number>()
  const accepted: Received[] = []
  let receiver = await HookReceiver.start()
  const port = Number(new URL(receiver.url).port)
  let server = await startProcess(data, options)
  ends.push(
    () => receiver.stop(),
    () => server.end('SIGKILL'),
  )
  const store = { url: receiver.url, format: 'text', minSeconds: 1 }
  await server.post('/v2/workspace/callbacks/update', { store })
  for (let round = 0; round < rounds; round++) {
    receiver.behavior = random.pick(behaviors)
    const ended = write(server, random, numbers).catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 500 + random.below(2_500)))
    // The receiver is down for a while.
    await receiver.stop()
    accepted.push(...receivedBy(receiver.bodies))
    receiver = await HookReceiver.start(answering(200), port)
    await new Promise((resolve) => setTimeout(resolve, random.below(300)))
    await server.end('SIGKILL')
    await ended
    server = await startProcess(data, options)
  }
  // The server is killed when the last changes are committed, before most of them are delivered.
  const expected = new Map(documents.map((documentId) => [documentId, `${documentId} at the end`]))
  await Promise.all([...expected].map(([id, text]) => server.post('/v2/crdt/update', writing(id, text))))
  await server.end('SIGKILL')
  server = await startProcess(data, options)
  const last = () =>
    new Map(
      [...accepted, ...receivedBy(receiver.bodies)].map(({ documentId, content }) => [documentId, content]),
    )
  await eventually(
    () => documents.every((id) => last().get(id) === expected.get(id)),
    () => ({ seed, last: [...last()] }),
    patienceMs,
  )
}, 240_000)

it('[CALL-69] sends the last version of each editor that two nodes change, also if a node stops and the bus loses messages', async () => {
  const { servers, stop } = await startNodes(2, { webhookAllowlist: ['127.0.0.1'] }, { weather: () => [] })
  const receiver = await HookReceiver.start()
  ends.push(() => receiver.stop(), stop)
  const [first, second] = servers as [(typeof servers)[0], (typeof servers)[0]]
  const store = { url: receiver.url, format: 'text', minSeconds: 1 }
  dataOf(await first.post('/v2/workspace/callbacks/update', { store }))
  const last = (documentId: string) =>
    receivedBy(receiver.bodies).findLast((each) => each.documentId === documentId)?.content
  for (let round = 0; round < 8; round++)
    for (const name of ['a', 'b', 'c', 'd'])
      dataOf(
        await (round % 2 === 0 ? first : second).post('/v2/crdt/update', writing(name, `${name} ${round}`)),
      )
  await eventually(() => ['a', 'b', 'c', 'd'].every((name) => last(name) === `${name} 7`))
  dataOf(await second.post('/v2/crdt/update', writing('a', 'a end')))
  await first.stop()
  await eventually(() => last('a') === 'a end')
})
