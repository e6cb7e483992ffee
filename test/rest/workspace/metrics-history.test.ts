import { afterEach, expect, it } from 'vitest'
import {
  recentIntervalMs,
  type SampleSeries,
} from '../../../src/capabilities/observability/metrics-history.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherKey, otherWorkspace } from '../../support/servers/tenants.ts'

interface History {
  readonly node: string
  readonly timestamp: number
  readonly recent?: SampleSeries
  readonly day?: SampleSeries
}

const historyPath = '/v2/metrics/history/get'
const storagePath = '/v2/metrics/storage/get'
const metricsToken = 'the-metrics-token-of-these-tests'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** Takes samples 500 times as often. */
const clock = {
  ...systemClock,
  after: (ms: number, fn: () => void) => systemClock.after(ms === recentIntervalMs ? 20 : ms, fn),
}

async function start(overrides: Partial<Config> = {}): Promise<TestServer> {
  const server = await startTestServer(overrides, { clock })
  stops.push(server.stop)
  return server
}

const historyOf = async (server: TestServer, data: object = {}, headers = {}) =>
  dataOf(await server.post(historyPath, data, headers)) as History

it('[OPS-45] returns the history of metrics, with the connections and updates of clients', async () => {
  const server = await start()
  const client = await RawClient.connect(
    `${server.wsUrl}/sync/acme/plan/main?token=${await server.token('ada')}`,
  )
  await client.roundTrip()
  const content = { organizationId: 'acme', documentId: 'plan', editorId: 'notes', type: 'text' }
  dataOf(await server.post('/v2/crdt/add', { ...content, data: 'text' }))
  let history: History | null = null
  const series = () => history?.recent
  await eventually(async () => {
    history = await historyOf(server)
    const isUsed = series()?.updatesPerSecond.some((value) => (value ?? 0) > 0)
    return isUsed === true && series()?.connections.at(-1) === 1
  })
  client.end()
  const { recent, day, timestamp } = history as unknown as History
  expect(recent?.intervalSeconds).toBe(10)
  expect(day).toMatchObject({ intervalSeconds: 300 })
  expect(recent?.commitP50.some((value) => value !== null && value > 0)).toBe(true)
  expect(recent?.memory.every((value) => value !== null && value > 1_000_000)).toBe(true)
  expect(recent?.timestamps.every((at) => at <= timestamp)).toBe(true)
})

it('[OPS-46] returns metrics only to a caller with the metrics token or, if none is configured, to the only API key of the server', async () => {
  const guarded = await start({ metricsToken })
  for (const path of [historyPath, storagePath])
    for (const given of [{}, { metricsToken: `${metricsToken}x` }]) {
      const { status, body } = await guarded.post(path, given)
      expect([status, body.error?.details?.code]).toEqual([401, 'auth/metrics-token'])
    }
  expect(await historyOf(guarded, { metricsToken })).toHaveProperty('recent')
  const open = await start({ adminToken })
  expect(await historyOf(open)).toHaveProperty('recent')
  const others = [await otherKey(open), await otherWorkspace(open)]
  for (const headers of [{}, ...others.map((other) => other.headers)]) {
    expect(Object.keys(await historyOf(open, {}, headers))).toEqual(['node', 'timestamp'])
    expect(dataOf(await open.post(storagePath, {}, headers))).toEqual({})
  }
  const shared = await start({ adminToken, metricsToken })
  const { headers } = await otherWorkspace(shared)
  expect(await historyOf(shared, { metricsToken }, headers)).toHaveProperty('recent')
})

it('[OPS-47] returns the number of stored bytes of the workspace, and its limit if it has one', async () => {
  const editor = { organizationId: 'acme', documentId: 'plan', editorId: 'main', type: 'text' }
  const unlimited = await start()
  expect(dataOf(await unlimited.post('/v2/crdt/add', { ...editor, data: 'x'.repeat(5_000) }))).toBeDefined()
  const { storedBytes } = dataOf(await unlimited.post(storagePath, {})) as { storedBytes: number }
  expect(storedBytes).toBeGreaterThan(4_000)
  dataOf(await unlimited.post('/v2/crdt/add', { ...editor, documentId: 'later', data: 'x'.repeat(5_000) }))
  const later = dataOf(await unlimited.post(storagePath, {})) as { storedBytes: number }
  expect(later).toEqual({ storedBytes: expect.any(Number) })
  expect(later.storedBytes).toBeGreaterThan(storedBytes + 4_000)
  const limited = await start({ maxStoredBytesPerWorkspace: 1_000_000 })
  expect(dataOf(await limited.post(storagePath, {}))).toEqual({
    storedBytes: expect.any(Number),
    storedBytesMax: 1_000_000,
  })
})
