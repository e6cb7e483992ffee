import type { ServerCredentials } from '../../../src/core/directory/tenants/credentials-file.ts'

/** An item of `/v2/workspace/usage/get`. */
export interface ReadUsage {
  readonly start: number
  readonly apiKey?: string
  readonly organizationId?: string
  readonly connectionsOpened: number
  readonly connectionsPeak: number
  readonly connectionMinutes: number
  readonly updates: number
  readonly bytesSent: number
  readonly calls: number
  readonly bytesStored?: number
}

export const workspaceHeaders = ({
  workspaceId,
  workspaceAuthToken,
}: Pick<ServerCredentials, 'workspaceId' | 'workspaceAuthToken'>) => ({
  'x-service-workspace-id': workspaceId,
  'x-service-workspace-auth-token': workspaceAuthToken,
})

/** Adds up the usage of several hours. The peak is the largest one. */
export function totalOf(items: readonly ReadUsage[]) {
  const total = { connectionsOpened: 0, connectionsPeak: 0, updates: 0, bytesSent: 0, calls: 0 }
  for (const item of items) {
    total.connectionsOpened += item.connectionsOpened
    total.connectionsPeak = Math.max(total.connectionsPeak, item.connectionsPeak)
    total.updates += item.updates
    total.bytesSent += item.bytesSent
    total.calls += item.calls
  }
  return total
}
