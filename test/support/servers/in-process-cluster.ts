import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../../src/core/config/config.ts'
import { startTestServer, type TestServer } from './server.ts'
import { type NodesOptions, type SharedNode, sharedNodes } from './simulated-network.ts'

export interface TestCluster {
  readonly servers: readonly TestServer[]
  readonly nodes: readonly SharedNode[]
  /** Returns the next server in rotation. Use it for calls that must work on any server. */
  readonly any: () => TestServer
  readonly stop: () => Promise<void>
}

/**
 * Starts complete servers in this process. They have the same store, and a simulated network that can be
 * faulty.
 */
export async function startCluster(
  count: number,
  overrides: Partial<Config> = {},
  options: NodesOptions = {},
): Promise<TestCluster> {
  const data = await mkdtemp(join(tmpdir(), 'weft-cluster-'))
  const nodes = await sharedNodes(count, options)
  const clock = options.clock === undefined ? {} : { clock: options.clock }
  const servers: TestServer[] = []
  for (const { engine } of nodes)
    servers.push(await startTestServer({ ...overrides, dataDir: data }, { engine, ...clock }))
  let turn = 0
  return {
    servers,
    nodes,
    any: () => servers[turn++ % count] as TestServer,
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()))
      await rm(data, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}
