import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd } from '../../../src/cli/bench/ending.ts'
import { bucketOf } from '../../../src/core/store/buckets.ts'
import { type CuttingProxy, startCuttingProxy } from '../../support/faults/connection-cutting-proxy.ts'
import { PostgresCluster } from '../../support/servers/postgres-cluster.ts'
import { dataOf } from '../../support/servers/server.ts'
import { ClusterNode } from './node.ts'
import { TermHistory } from './term-history.ts'

export const adminToken = 'the-admin-token-of-cluster-tests'

/** The workspace of the examples of `/openapi.json`. */
export const exampleWorkspace = {
  workspaceId: 'ws_example',
  workspaceToken: 'a-workspace-token-of-tests',
  apiKey: 'key_example',
  authToken: 'an-auth-token-of-tests',
}

export const schema = 'weft'

const options = {
  WEFT_ENGINE: 'postgres',
  WEFT_POSTGRES_SCHEMA: schema,
  WEFT_JWT_SECRET: 'the-secret-that-all-nodes-of-a-cluster-have',
  WEFT_ADMIN_TOKEN: adminToken,
  WEFT_WEBHOOK_ALLOWLIST: '127.0.0.1',
  WEFT_LOG_LEVEL: process.env.WEFT_LOG_LEVEL ?? 'info',
  // All clients have one address and one workspace.
  WEFT_CALLS_PER_KEY: '0',
  WEFT_NEW_DOCUMENTS_PER_WORKSPACE: '0',
  WEFT_CALLS_PER_ADDRESS: '0',
  WEFT_CONNECTS_PER_ADDRESS: '0',
}

/** For the first nodes. Calls may change the credentials of the workspace afterwards. */
const bootstrap = { WEFT_BOOTSTRAP: JSON.stringify({ example: exampleWorkspace }) }

const nodeCount = 3

/** Sizes of clusters, each with three Weft nodes. `small` has one database; `whole` has two standbys for failover. */
export type ClusterKind = 'small' | 'whole'
const standbys = { small: 0, whole: 2 }

/** Real servers, each in its own process: databases and Weft nodes. */
export class TestCluster {
  readonly postgres: PostgresCluster
  readonly nodes: ClusterNode[] = []
  readonly #directory: string
  readonly #proxies: CuttingProxy[] = []
  #terms: TermHistory | null = null
  #turn = 0

  private constructor(directory: string, postgres: PostgresCluster) {
    this.#directory = directory
    this.postgres = postgres
  }

  static async start(kind: ClusterKind): Promise<TestCluster> {
    const directory = mkdtempSync(join(tmpdir(), 'weft-cluster-'))
    const postgres = await PostgresCluster.start(standbys[kind])
    // All processes end with this one.
    atEnd(() => postgres.killAtOnce())
    const cluster = new TestCluster(directory, postgres)
    try {
      for (let count = 0; count < nodeCount; count += 1) await cluster.add()
      await Promise.all(cluster.nodes.map((node) => node.start()))
      cluster.#terms = await TermHistory.begin(postgres)
    } catch (error) {
      await cluster.end()
      throw error
    }
    return cluster
  }

  /** Adds a node, without starting it. Its connections to the databases lead through proxies. */
  async add(): Promise<ClusterNode> {
    const name = `node-${this.nodes.length + 1}`
    const databases: CuttingProxy[] = []
    let { url } = this.postgres
    for (const port of this.postgres.ports) {
      const proxy = await startCuttingProxy(port)
      databases.push(proxy)
      url = url.replace(`:${port}`, `:${proxy.port}`)
    }
    this.#proxies.push(...databases)
    const data = join(this.#directory, name)
    const node = await ClusterNode.of({
      name,
      data,
      databases,
      options: { ...options, ...(this.#terms === null && bootstrap), WEFT_POSTGRES_URL: url },
    })
    this.nodes.push(node)
    return node
  }

  /** Forgets the last node, which has stopped. */
  drop(): void {
    this.nodes.pop()
  }

  /** The order in which the nodes have written, as the store has recorded it. */
  get terms(): TermHistory {
    if (this.#terms === null) throw new Error('the nodes do not run')
    return this.#terms
  }

  /** Returns the node that owns a document of the organization `acme`, according to the store. */
  async ownerOf(documentId: string): Promise<ClusterNode> {
    const bucket = bucketOf(['test', 'test-key', 'acme', documentId])
    const [row] = await this.postgres.sql(
      `select node.id from weft.term join weft.node on node.incarnation = holder where bucket = ${bucket}`,
    )
    const node = this.nodes.find(({ name }) => name === row?.id)
    if (node === undefined) throw new Error(`${documentId} has no owner`)
    return node
  }

  /** Returns the number of buckets of documents that a node owns, according to the store. */
  async termsOf({ name }: ClusterNode): Promise<number> {
    const [row] = await this.postgres.sql(
      `select count(*)::int from weft.term join weft.node on node.incarnation = holder where node.id = '${name}'`,
    )
    return row?.count as number
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

  /** Ends the faults of nodes after an error. */
  async repair(): Promise<void> {
    for (const node of this.nodes) {
      node.reconnect()
      if (node.runs) node.resume()
      else await node.start()
    }
  }

  /** Ends all processes and keeps the logs of the nodes. */
  async end(): Promise<void> {
    for (const node of this.nodes) {
      node.resume()
      await node.kill()
    }
    for (const proxy of this.#proxies) proxy.close()
    this.postgres.primary.resume()
    await this.postgres.remove()
  }

  async remove(): Promise<void> {
    await this.end()
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 })
  }
}
