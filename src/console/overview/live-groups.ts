import type { ConnectionsGetDataItem } from '../../client/api/operation-types.ts'
import { useInterval, useQuery } from '../api/hooks.ts'
import { consoleUser } from '../documents/editor.ts'

/** Number of connections that are read: one page of the operation. */
export const liveConnectionsMax = 100
const refreshMs = 5_000

/**
 * Reads the latest connections of the API key every 5 seconds. Leaves out those of the console, whose pages are
 * connected to the documents that they show.
 */
export function useLiveConnections() {
  const question = { pageSize: liveConnectionsMax }
  const { data, error, reload } = useQuery<readonly ConnectionsGetDataItem[]>('/v2/connections/get', question)
  useInterval(refreshMs, reload)
  const connections = data?.filter(({ userId }) => userId !== consoleUser.id)
  return { connections, error, isPart: data?.length === liveConnectionsMax }
}

/** An editor with connected users. */
export interface BusyEditor {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
  /** Its users, each once. */
  readonly users: readonly Pick<OnlineUser, 'userId' | 'name'>[]
  /** Epoch milliseconds of the latest connection. */
  readonly latestAt: number
}

/** A user with connected clients. */
export interface OnlineUser {
  readonly organizationId: string
  readonly userId: string
  readonly name: string
  /** Documents that the user has open, the latest first. */
  readonly documentIds: readonly string[]
  /** Epoch milliseconds of the first connection that is still open. */
  readonly sinceAt: number
}

type ConnectionGroup = readonly [ConnectionsGetDataItem, ...ConnectionsGetDataItem[]]

function groupedBy(
  connections: readonly ConnectionsGetDataItem[],
  parts: (connection: ConnectionsGetDataItem) => readonly string[],
): readonly ConnectionGroup[] {
  const groups = new Map<string, [ConnectionsGetDataItem, ...ConnectionsGetDataItem[]]>()
  for (const connection of connections) {
    const key = JSON.stringify(parts(connection))
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [connection])
    else group.push(connection)
  }
  return [...groups.values()]
}

/** Returns the editors with connections, sorted by their number of users, then by the latest connection. */
export const busyEditors = (connections: readonly ConnectionsGetDataItem[]): readonly BusyEditor[] =>
  groupedBy(connections, ({ organizationId, documentId, editorId }) => [organizationId, documentId, editorId])
    .map((group) => ({
      organizationId: group[0].organizationId,
      documentId: group[0].documentId,
      editorId: group[0].editorId,
      users: groupedBy(group, ({ userId }) => [userId]).map(([{ userId, name }]) => ({
        userId,
        name: name || userId,
      })),
      latestAt: Math.max(...group.map(({ connectedAt }) => connectedAt)),
    }))
    .sort((a, b) => b.users.length - a.users.length || b.latestAt - a.latestAt)

/** Returns the users of the connections, the latest first. @param connections the latest first */
export const onlineUsers = (connections: readonly ConnectionsGetDataItem[]): readonly OnlineUser[] =>
  groupedBy(connections, ({ organizationId, userId }) => [organizationId, userId])
    .map((group) => ({
      organizationId: group[0].organizationId,
      userId: group[0].userId,
      name: group[0].name || group[0].userId,
      documentIds: [...new Set(group.map(({ documentId }) => documentId))],
      sinceAt: Math.min(...group.map(({ connectedAt }) => connectedAt)),
    }))
    .sort((a, b) => b.sinceAt - a.sinceAt)
