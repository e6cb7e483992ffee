import type { Config } from '../../../src/core/config/config.ts'
import { startTestServer, type TestServer } from './server.ts'
import { type NodesOptions, type SharedNode, sharedNodes } from './simulated-network.ts'

/** A server, with its node in the simulated cluster. */
export interface NodeServer extends TestServer {
  readonly node: SharedNode
}

/**
 * Starts servers that use the same store. Each server is a node of one cluster. They are stopped together.
 */
export async function startNodes(
  count: number,
  overrides: Partial<Config> = {},
  options: NodesOptions = {},
): Promise<{ readonly servers: readonly NodeServer[]; readonly stop: () => Promise<void> }> {
  const nodes = await sharedNodes(count, options)
  const given = options.clock === undefined ? {} : { clock: options.clock }
  const servers = await Promise.all(
    nodes.map(async (node) => ({
      ...(await startTestServer(overrides, { ...given, engine: node.engine })),
      node,
    })),
  )
  return {
    servers,
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
}
