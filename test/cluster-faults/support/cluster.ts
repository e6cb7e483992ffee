import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd } from '../../../bench/support/ending.ts'
import { PostgresCluster } from '../../support/servers/postgres-cluster.ts'
import { dataOf } from '../../support/servers/server.ts'
import { ClusterNode } from './node.ts'

export const adminToken = 'the-admin-token-of-cluster-tests'

/** The workspace of the examples of `/openapi.json`. */
export const exampleWorkspace = {
  workspaceId: 'ws_example',
  workspaceToken: 'a-workspace-token-of-tests',
  apiKey: 'key_example',
  authToken: 'an-auth-token-of-tests',
}

const options = {
  WEFT_ENGINE: 'postgres',
  WEFT_POSTGRES_SCHEMA: 'weft',
  WEFT_JWT_SECRET: 'the-secret-that-all-nodes-of-a-cluster-have',
  WEFT_ADMIN_TOKEN: adminToken,
  WEFT_BOOTSTRAP: JSON.stringify({ example: exampleWorkspace }),
  WEFT_WEBHOOK_ALLOWLIST: '127.0.0.1',
  WEFT_LOG_LEVEL: process.env.WEFT_LOG_LEVEL ?? 'info',
  // All clients have one address and one workspace.
  WEFT_CALLS_PER_KEY: '0',
  WEFT_NEW_DOCUMENTS_PER_WORKSPACE: '0',
  WEFT_CALLS_PER_ADDRESS: '0',
  WEFT_CONNECTS_PER_ADDRESS: '0',
}

/** Sizes of clusters, each with three Weft nodes. `small` has one database; `whole` has two standbys for failover. */
export type ClusterKind = 'small' | 'whole'
const standbys = { small: 0, whole: 2 }

/** Real servers, each in its own process: databases and Weft nodes. */
export class TestCluster {
  readonly postgres: PostgresCluster
  readonly nodes: readonly ClusterNode[]
  readonly #directory: string
  #turn = 0

  private constructor(directory: string, postgres: PostgresCluster, nodes: readonly ClusterNode[]) {
    this.#directory = directory
    this.postgres = postgres
    this.nodes = nodes
  }

  /** @param program path of the program of the nodes; by default, the build of this version */
  static async start(kind: ClusterKind, program?: string): Promise<TestCluster> {
    const directory = mkdtempSync(join(tmpdir(), 'weft-cluster-'))
    const postgres = await PostgresCluster.start(standbys[kind])
    // All processes end with this one.
    atEnd(() => postgres.killAtOnce())
    const all = { ...options, WEFT_POSTGRES_URL: postgres.url }
    const names = ['node-1', 'node-2', 'node-3']
    const nodes = await Promise.all(names.map((name) => ClusterNode.of(name, join(directory, name), all)))
    for (const node of nodes) node.program = program
    const cluster = new TestCluster(directory, postgres, nodes)
    try {
      await Promise.all(nodes.map((node) => node.start()))
    } catch (error) {
      await cluster.end()
      throw error
    }
    return cluster
  }

  /** The directory of the data and logs of nodes. */
  get directory(): string {
    return this.#directory
  }

  get serving(): readonly ClusterNode[] {
    return this.nodes.filter(({ state }) => state === 'serving')
  }

  /** Returns the next serving node, in rotation. */
  next(): ClusterNode {
    const { serving } = this
    this.#turn += 1
    const node = serving[this.#turn % serving.length] ?? this.nodes[0]
    if (node === undefined) throw new Error('there is no node')
    return node
  }

  async token(userId: string): Promise<string> {
    const userProperties = { name: userId, email: `${userId}@example.com` }
    const answer = await this.next().post('/v2/auth/generate_token', { userId, userProperties })
    return (dataOf(answer) as { token: string }).token
  }

  /** Ends all processes and keeps the logs of the nodes. */
  async end(): Promise<void> {
    for (const node of this.nodes) {
      node.resume()
      await node.kill()
    }
    this.postgres.primary.resume()
    await this.postgres.remove()
  }

  async remove(): Promise<void> {
    await this.end()
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 })
  }
}
