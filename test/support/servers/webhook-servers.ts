import { afterEach } from 'vitest'
import type { Log } from '../../../src/core/base/log.ts'
import type { Config } from '../../../src/core/config/config.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { type Behavior, HookReceiver, hookCalls } from '../clients/webhook-receiver.ts'
import { HeldClock } from '../time/clock.ts'
import { dataOf, startTestServer, type TestServer } from './server.ts'

export * from '../clients/webhook-receiver.ts'

/** Returns functions that create servers and receivers. They are stopped at the end of each test. */
export function hookTests() {
  const ends: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })
  return {
    start: async (overrides: Partial<Config> = {}, log?: Log) => {
      const hooks = await startHooks(overrides, log)
      ends.push(() => hooks.server.stop())
      return hooks
    },
    receiving: async (behavior?: Behavior): Promise<HookReceiver> => {
      const receiver = await HookReceiver.start(behavior)
      ends.push(() => receiver.stop())
      return receiver
    },
  }
}

/**
 * Starts a server with advanced webhooks. Its clock stands still until a test advances it. `enqueued`
 * contains the names of the queues of all enqueued jobs.
 */
async function startHooks(overrides: Partial<Config>, log?: Log) {
  const clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
  const engine = await openMemoryEngine({ clock })
  const enqueued: string[] = []
  const commit: Engine['kv']['commit'] = (part, change) => {
    enqueued.push(...(change.jobs ?? []).map(({ queue }) => queue))
    return engine.kv.commit(part, change)
  }
  const kv: Engine['kv'] = {
    get: (...call) => engine.kv.get(...call),
    scan: (...call) => engine.kv.scan(...call),
    commit,
  }
  const options = { webhookAllowlist: ['127.0.0.1'], ...overrides }
  const server = await startTestServer(options, { engine: { ...engine, kv }, clock, ...(log && { log }) })
  const calls = callsOf(server)
  await calls.begin()
  return { server, engine, clock, enqueued, ...calls }
}

export const callsOf = (server: TestServer): ReturnType<typeof hookCalls> =>
  hookCalls(async (path, data) => dataOf(await server.post(path, data)))
