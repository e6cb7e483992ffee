import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readConfig } from '../../../src/core/config/read-config.ts'
import { type Kv, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { type RunningServer, startServer } from '../../../src/server/server.ts'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { isAbout, ping, pong, tokenFrame } from '../../support/clients/hocuspocus-frames.ts'
import { holdable } from '../../support/stores/pausable-engine.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { itLong } from '../../support/time/full-run.ts'

const clock = new HeldClock(Date.now())
let directory: string
let server: RunningServer
let token: string
/** Error of reads of the directory; null if they succeed. */
let failure: Error | null
let lines: string[]

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weft-tokens-away-'))
  failure = null
  lines = []
})
afterEach(async () => {
  failure = null
  await server.close()
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

async function start(): Promise<void> {
  const engine = holdable(await openMemoryEngine())
  const { kv } = engine
  const failing = <R>(work: () => Promise<R>): Promise<R> =>
    failure === null ? work() : Promise.reject(failure)
  const brittle: Kv = {
    get: (...parameters) => failing(() => kv.get(...parameters)),
    scan: (...parameters) => failing(() => kv.scan(...parameters)),
    commit: (...parameters) => failing(() => kv.commit(...parameters)),
  }
  const config = {
    ...readConfig({ flags: {}, environment: {}, file: null }).config,
    port: 0,
    host: '127.0.0.1',
    engine: 'memory' as const,
    dataDir: directory,
  }
  const log = pino({ level: 'warn', base: null }, { write: (line: string) => void lines.push(line) })
  server = await startServer(config, log, {
    clock,
    engine: { ...engine, kv: brittle },
  })
  const { port, credentials } = server
  const answer = await fetch(`http://127.0.0.1:${port}/v2/auth/generate_token`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': credentials.apiKey,
      'x-service-auth-token': credentials.authToken,
    },
    body: JSON.stringify({
      data: { userId: 'ada', userProperties: { name: 'Ada', email: 'a@example.com' } },
    }),
  })
  token = ((await answer.json()) as { result: { data: { token: string } } }).result.data.token
}

const connect = (path: string): Promise<RawClient> =>
  RawClient.connect(`ws://127.0.0.1:${server.port}${path}`)
const comeBack = (): Promise<RawClient> => connect(`/sync/acme/plan/main?token=${token}`)
const name = 'acme/plan/main'
async function comeToMany(): Promise<RawClient> {
  const client = await connect('/hocuspocus')
  client.send(tokenFrame(name, token))
  return client
}
const told = (): Record<string, unknown>[] =>
  lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'a token could not be checked')
async function refused(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
  return Number(/^weft_auth_failures_total\{reason="store"\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

const away = {
  code: 1013,
  reason: 'the token could not be checked, because the store is not available; try again',
}

it('[LIM-18] when tokens cannot be checked, closes with 1013 in every protocol, and logs one line without a stack trace', async () => {
  await start()
  failure = new StoreUnavailableError('away')
  for (const client of await Promise.all(Array.from({ length: 5 }, comeBack)))
    expect(await client.closed).toEqual(away)
  const many = await Promise.all(Array.from({ length: 5 }, comeToMany))
  await eventually(async () => (await refused()) === 10)
  for (const client of many) client.end()
  expect(told()).toEqual([expect.objectContaining({ level: 40, reason: 'away' })])
  expect(lines.join('')).not.toContain('stack')
  clock.advance(10_000)
  await (await comeBack()).closed
  expect(told()).toHaveLength(2)
  failure = null
  const client = await comeBack()
  await client.roundTrip()
  client.end()
})

it('[LIM-18] if tokens cannot be checked because of a bug, logs an error for each of them', async () => {
  await start()
  failure = new TypeError('a bug')
  const errors = () => lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 50)
  const clients = [await comeBack(), await comeBack(), await comeToMany()]
  await eventually(() => errors().length === 3)
  for (const { err } of errors()) expect(err).toMatchObject({ message: 'a bug', stack: expect.any(String) })
  for (const client of clients) client.end()
  expect(await refused()).toBe(0)
})

it('[DIA-25] keeps the current token valid when a newer token cannot be checked because the store is unavailable', async () => {
  await start()
  const client = await comeToMany()
  await eventually(() => client.received.some((bytes) => isAbout(bytes, name, 2, 2)))
  failure = new StoreUnavailableError('away')
  client.send(tokenFrame(name, token))
  await eventually(async () => (await refused()) === 1)
  client.send(ping)
  await eventually(() => client.received.some((bytes) => Buffer.from(bytes).equals(pong)))
  client.end()
})

itLong(
  '[LIM-18] when tokens cannot be checked, closes every socket with 1013, including sockets with many documents',
  async () => {
    await start()
    failure = new StoreUnavailableError('away')
    for (const come of [comeBack, comeToMany]) expect(await (await come()).closed).toEqual(away)
  },
)
