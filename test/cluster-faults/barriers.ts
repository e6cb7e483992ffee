import { openPostgresEngine } from '../../src/cluster/postgres/engine.ts'
import { eventually } from '../support/clients/clients.ts'
import { type History, makeHistory, type Place } from '../support/data/history.ts'
import type { Answer } from '../support/servers/server.ts'
import { schema, type TestCluster } from './support/cluster.ts'
import type { ClusterNode } from './support/node.ts'

/** Maximum duration of a disturbance. It is longer than the 4 s after which others take the documents of a node. */
const disturbedMsMax = 8_000
/** Longer than most disturbances, so that late writes of the disturbed node arrive meanwhile. */
const watchMsMax = 5_000
const kinds = ['disable', 'delete', 'downgrade', 'revoke', 'revokeTokens'] as const
const credentials = { workspaceId: 'test', apiKey: 'test-key' }

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The answer of a node that does not answer. */
const unanswered: Answer = {
  status: 503,
  headers: new Headers(),
  body: { error: { status: 'UNAVAILABLE', message: 'no answer' } },
}

/** Makes a history at the nodes of a cluster. */
export async function runBarriers(cluster: TestCluster, barriers: number, seed: number): Promise<History> {
  const { url } = cluster.postgres
  const engine = await openPostgresEngine({ url, schema, nodes: { name: 'history' } })
  const placeOf = (node: ClusterNode): Place => ({
    engine,
    server: {
      wsUrl: node.wsUrl,
      credentials,
      post: (...call) => node.post(...call).catch(() => unanswered),
      async token(userId) {
        let token: string | null = null
        await eventually(async () => {
          token = await cluster.token(userId).catch(() => null)
          return token !== null
        })
        return String(token)
      },
    },
  })
  const disturb = async (random: () => number): Promise<void> => {
    const node = cluster.nodes[Math.floor(random() * cluster.nodes.length)] as ClusterNode
    const kind = Math.floor(random() * 3)
    await sleep(random() * 1_000)
    if (kind === 0) node.pause()
    else node.partition(kind === 1 ? 'to database' : 'from database')
    await sleep(random() * disturbedMsMax)
    if (kind === 0) node.resume()
    else node.reconnect()
  }
  try {
    return await makeHistory({
      seed,
      barriers,
      kinds,
      watchMsMax,
      disturb,
      places: cluster.serving.map(placeOf),
    })
  } finally {
    await engine.close()
  }
}
