import type { PresenceEntry } from '../../../src/core/rooms/presence/presence-entry.ts'
import { type Editor, eventually, type ProviderVersion, RawClient, syncedEditor } from '../clients/clients.ts'
import { type NodeServer, startNodes } from './node-servers.ts'
import { dataOf } from './server.ts'
import type { NodesOptions } from './simulated-network.ts'

/**
 * Credentials of all nodes. They are the same for all nodes, regardless of the order in which the nodes
 * start.
 */
const credentials = {
  workspaceId: 'ws_nodes',
  workspaceAuthToken: 'workspace-token-of-nodes',
  apiKey: 'key_nodes',
  authToken: 'auth-token-of-the-nodes',
  jwtSecret: 'a-secret-that-all-nodes-of-a-cluster-share',
}

interface Seen {
  readonly user?: { readonly id?: string; readonly name?: string; readonly status?: string }
  readonly cursor?: unknown
}

/** Starts nodes with a document. Users can open the document on each node. */
export async function presenceNodes(count: number, options: NodesOptions = {}) {
  const { servers, stop } = await startNodes(count, credentials, options)
  const ids = { organizationId: 'acme', documentId: 'doc' }
  const at = (node: number): NodeServer => servers[node] as NodeServer
  await at(0).post('/v2/organizations/add', { organizations: [{ organizationId: 'acme' }] })
  const added = { organizationId: 'acme', documents: [{ documentId: 'doc' }] }
  dataOf(await at(0).post('/v2/organizations/documents/add', added))
  const call = async (node: number, name: string, data: object): Promise<unknown> =>
    dataOf(await at(node).post(`/v2/presence/${name}`, { ...ids, ...data }))
  const get = async (node: number, data: object = {}) =>
    (await call(node, 'get', data)) as readonly PresenceEntry[]
  const open = async (node: number, userId: string, version: ProviderVersion = 3): Promise<Editor> => {
    const { wsUrl } = at(node)
    const editor = await syncedEditor(wsUrl, 'acme/doc/main', await at(0).token(userId), { version })
    editor.provider.awareness.setLocalStateField('cursor', userId)
    return editor
  }
  const raw = async (node: number, userId: string): Promise<RawClient> => {
    const client = await RawClient.connect(
      `${at(node).wsUrl}/sync/acme/doc/main?token=${await at(0).token(userId)}`,
    )
    await client.roundTrip()
    return client
  }
  return { stop, at, ids, call, get, open, raw }
}

export const statesIn = ({ provider }: Editor): readonly Seen[] => [
  ...provider.awareness.getStates().values(),
]

/** Returns the ids of the users that a client sees, sorted. An id can occur several times. */
export const usersIn = (editor: Editor): string =>
  statesIn(editor)
    .map((state) => state.user?.id ?? state.cursor)
    .sort()
    .join()

export const seenIn = (editor: Editor, userId: string): Seen | undefined =>
  statesIn(editor).find(({ user }) => user?.id === userId)

/**
 * Waits until each editor sees exactly these users. If an editor has an awareness state, its own user is one
 * of them.
 */
export async function allSee(editors: readonly Editor[], users: string): Promise<void> {
  for (const editor of editors)
    await eventually(
      () => usersIn(editor) === users,
      () => [users, ...editors.map(usersIn)],
    )
}
