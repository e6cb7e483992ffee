import { documentPrefix } from '../../../src/core/model/address.ts'
import type { TestCluster } from './in-process-cluster.ts'
import { dataOf, metric, type TestServer } from './server.ts'
import type { SharedNode } from './simulated-network.ts'

interface EditorIds {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}

let documents = 0

/** Returns the ids of a document that a node of the cluster owns, and that no test has used. @param node from 0 */
export function documentOf(
  {
    nodes,
    servers,
  }: Pick<TestCluster, 'servers'> & { readonly nodes: readonly Pick<SharedNode, 'engine'>[] },
  node: number,
): EditorIds {
  const [wanted, server] = [nodes[node], servers[0]]
  if (wanted === undefined || server === undefined) throw new Error('there is no such node')
  const { workspaceId, apiKey } = server.credentials
  const organizationId = 'acme'
  for (;;) {
    const documentId = `owned-${++documents}`
    const { cluster } = wanted.engine
    const key = documentPrefix({ workspaceId, apiKey, organizationId }, documentId)
    if (cluster.owner(key).id === cluster.self) return { organizationId, documentId, editorId: 'main' }
  }
}

/** Returns the path of an editor in the URLs of clients. */
export const pathOf = ({ organizationId, documentId, editorId }: EditorIds): string =>
  `${organizationId}/${documentId}/${editorId}`

/** Returns the number of requests that a node has forwarded; NaN if there are none. */
export const forwardedBy = (server: TestServer, kind: string): Promise<number> =>
  metric(server, `weft_forwarded_requests_total{kind="${kind}"}`)

/** Returns the text of an editor, as a node answers. */
export async function textAt(server: TestServer, ids: EditorIds): Promise<string> {
  const [{ data }] = dataOf(await server.post('/v2/crdt/get', ids)) as [{ data: string }]
  return data
}

interface Connected {
  readonly connectionId: string
  readonly userId: string
  readonly node: string
  readonly clientAddress: string
}

/** Returns the connections of a document on all nodes. */
export async function connectionsOf(
  server: TestServer,
  { documentId }: EditorIds,
): Promise<readonly Connected[]> {
  return dataOf(await server.post('/v2/connections/get', { documentId })) as readonly Connected[]
}
