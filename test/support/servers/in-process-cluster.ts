import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../../src/config.ts'
import { startTestServer, type TestServer } from './server.ts'
import { type NodesOptions, type SharedNode, sharedNodes } from './simulated-network.ts'

export interface TestCluster {
  readonly servers: readonly TestServer[]
  readonly nodes: readonly SharedNode[]
  /** The server whose turn it is: any of them must do. */
  readonly any: () => TestServer
  readonly stop: () => Promise<void>
}

/** Whole servers in this process, which share a store and talk over a network that may be bad. */
export async function startCluster(
  count: number,
  overrides: Partial<Config> = {},
  options: NodesOptions = {},
): Promise<TestCluster> {
  const data = await mkdtemp(join(tmpdir(), 'weft-cluster-'))
  const nodes = await sharedNodes(count, options)
  const servers: TestServer[] = []
  for (const { engine } of nodes)
    servers.push(await startTestServer({ ...overrides, dataDir: data }, { engine }))
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
