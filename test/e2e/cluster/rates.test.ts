import { afterEach, expect } from 'vitest'
import type { Config } from '../../../src/core/config/config.ts'
import { startNodes } from '../../support/servers/node-servers.ts'
import type { Weather } from '../../support/servers/simulated-network.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { itLong as it } from '../../support/time/full-run.ts'

let stop = async (): Promise<void> => {}
afterEach(() => stop())

const burst = 30
const perSecond = 10
const limits: Partial<Config> = { callsPerKey: { perSecond, burst } }

async function start(overrides: Partial<Config>, weather?: Weather) {
  const clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
  const started = await startNodes(3, overrides, { clock, ...(weather && { weather }) })
  stop = started.stop
  /** Calls every node until it rejects a call. Returns the number of accepted calls. */
  const letIn = async (path: string, headers?: Record<string, string>): Promise<number> => {
    let count = 0
    for (const { post } of started.servers) while ((await post(path, {}, headers)).status !== 429) count += 1
    return count
  }
  return { clock, letIn, servers: started.servers }
}

const path = '/v2/workspace/domains/get'

it('[CS-40] in the long run, three nodes together accept as many calls of an API key as a single node', async () => {
  const { clock, letIn } = await start(limits)
  // At first, each node accepts as many calls as a single one.
  expect(await letIn(path)).toBe(3 * burst)
  clock.advance(250)
  let count = 0
  const seconds = 60
  for (let second = 0; second < seconds; second++) {
    for (let slice = 0; slice < 4; slice++) {
      count += await letIn(path)
      clock.advance(250)
    }
  }
  // Calls accepted beyond the limit at first must be waited for.
  expect(3 * burst + count).toBeLessThanOrEqual(burst + perSecond * seconds + 3 * perSecond)
  expect(3 * burst + count).toBeGreaterThan(perSecond * seconds - perSecond)
})

it('[CS-40] counts the workspace/get calls of a workspace at other nodes toward its limit', async () => {
  const { clock, letIn, servers } = await start({ workspaceReadsPerMinute: 5 })
  const { workspaceId = '', workspaceAuthToken = '' } = servers[0]?.credentials ?? {}
  const headers = {
    'x-service-workspace-id': workspaceId,
    'x-service-workspace-auth-token': workspaceAuthToken,
  }
  for (const { post } of servers) expect((await post('/v2/workspace/get', {}, headers)).status).toBe(200)
  clock.advance(250)
  // All nodes know of three of the five calls.
  expect(await letIn('/v2/workspace/get', headers)).toBe(3 * 2)
})

it('[CS-41] when the bus loses all messages about rates, limits calls at each node separately', async () => {
  const { clock, letIn } = await start(limits, (topic) => (topic === 'rates' ? [] : [0]))
  expect(await letIn(path)).toBe(3 * burst)
  clock.advance(1_000)
  expect(await letIn(path)).toBe(3 * perSecond)
})
