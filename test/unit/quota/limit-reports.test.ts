import { pino } from 'pino'
import { beforeEach, expect, it } from 'vitest'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import { LimitReports } from '../../../src/core/quota/limit-reports.ts'
import { limitNames } from '../../../src/core/quota/limits.ts'
import { repeatEveryMs as reportEveryMs } from '../../../src/core/quota/repeated-events.ts'
import { HeldClock } from '../../support/time/clock.ts'

interface Line {
  readonly limit: string
  readonly scope: string
  readonly who?: string
  readonly times: number
}

let lines: (Line & { level: number; msg: string })[]
let clock: HeldClock
let metrics: ReturnType<typeof createMetrics>
let reports: LimitReports

beforeEach(() => {
  lines = []
  clock = new HeldClock()
  metrics = createMetrics()
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  reports = new LimitReports({ clock, log, metrics })
})

const told = (): Line[] =>
  lines
    .splice(0)
    .map(({ limit, scope, who, times }) => ({ limit, scope, ...(who !== undefined && { who }), times }))
const counted = async (limit: string): Promise<number | undefined> =>
  (await metrics.limits.get()).values.find((each) => each.labels.limit === limit)?.value
const act = (who: string, times = 1): void => {
  for (let time = 0; time < times; time += 1) reports.exceeded('maxConnectionsPerAddress', who)
}
const line = (who: string, times: number): Line => ({
  limit: 'maxConnectionsPerAddress',
  scope: 'address',
  who,
  times,
})

it('[LIM-12] logs a limit at its first hit, then every ten seconds with the number of hits', async () => {
  act('192.0.2.1', 500)
  act('192.0.2.2')
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [40, 'limit exceeded'],
    [40, 'limit exceeded'],
  ])
  expect(told()).toEqual([line('192.0.2.1', 1), line('192.0.2.2', 1)])
  clock.advance(reportEveryMs)
  expect(told()).toEqual([line('192.0.2.1', 499)])
  act('192.0.2.1', 3)
  expect(told()).toEqual([])
  clock.advance(reportEveryMs)
  expect(told()).toEqual([line('192.0.2.1', 3)])
  clock.advance(reportEveryMs)
  clock.advance(reportEveryMs)
  expect(told()).toEqual([])
  act('192.0.2.1')
  expect(told()).toEqual([line('192.0.2.1', 1)])
  expect(await counted('maxConnectionsPerAddress')).toBe(505)
})

it('[LIM-12] logs hits of a server-wide limit in one line for all clients', () => {
  for (const who of ['a', 'b', 'c']) reports.exceeded('maxConnections', who)
  expect(told()).toEqual([{ limit: 'maxConnections', scope: 'server', times: 1 }])
  clock.advance(reportEveryMs)
  expect(told()).toEqual([{ limit: 'maxConnections', scope: 'server', times: 2 }])
})

it('[LIM-12] beyond a number of clients, logs the limit hits of all other clients in one line', async () => {
  for (let who = 0; who < 5000; who += 1) act(`address ${who}`)
  expect(told()).toHaveLength(200)
  clock.advance(reportEveryMs)
  expect(told()).toEqual([line('others', 4800)])
  expect(await counted('maxConnectionsPerAddress')).toBe(5000)
})

it('[LIM-12] logs the remaining hits at shutdown', () => {
  act('192.0.2.1', 5)
  told()
  reports.end()
  expect(told()).toEqual([line('192.0.2.1', 4)])
  clock.advance(reportEveryMs)
  expect(told()).toEqual([])
})

it('[LIM-11] has a metric series for every limit', async () => {
  for (const limit of limitNames) reports.exceeded(limit, 'somebody')
  for (const limit of limitNames) expect(await counted(limit)).toBe(1)
})
