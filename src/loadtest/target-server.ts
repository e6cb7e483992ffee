import { randomBytes } from 'node:crypto'
import { withoutTrailing } from '../text.ts'
import { callOnline, type OnlineServer } from '../transfer/documents/rest-client.ts'
import { yWebsocketMessages } from './client-protocol.ts'
import type { HttpTarget } from './http-client.ts'
import { spawnServer } from './spawn-server.ts'
import type { TypingProtocol } from './typist.ts'

/** The server to measure. */
export interface TargetServer extends HttpTarget, TypingProtocol {
  /** Organization to which the load test writes all data. */
  readonly organizationId: string
  /** Process id of the server; null if the load test did not start it. */
  readonly pid: number | null
  /** Returns the websocket URL of a document. */
  readonly socketUrl: (documentId: string) => string
  /** Removes the written data, and ends the server if the load test started it. */
  readonly end: () => Promise<void>
}

/** Prepares a running server for the measurement. The limits of that server apply. @throws StorageError */
export async function remoteTarget(server: OnlineServer): Promise<TargetServer> {
  const organizationId = `weft-bench-${randomBytes(6).toString('hex')}`
  return targetOf(server, organizationId, null, async () => {
    await callOnline(server, '/v2/organizations/delete', { organizationIds: [organizationId] })
  })
}

/** Starts a server for the measurement. Its directory is removed at the end. @throws StorageError */
export async function spawnedTarget(): Promise<TargetServer> {
  const { port, apiKey, authToken, pid, end } = await spawnServer()
  try {
    return await targetOf({ url: `http://127.0.0.1:${port}`, apiKey, authToken }, 'bench', pid, end)
  } catch (error) {
    await end()
    throw error
  }
}

async function targetOf(
  server: OnlineServer,
  organizationId: string,
  pid: number | null,
  end: () => Promise<void>,
): Promise<TargetServer> {
  const { apiKey, authToken } = server
  const url = withoutTrailing('/', server.url)
  // User of the load test. It is an administrator, because new documents may be restricted.
  const user = { userId: 'weft-bench', userProperties: { name: 'weft bench', email: '', isAdmin: true } }
  const { data } = await callOnline(server, '/v2/auth/generate_token', user)
  const { token } = data as { token: string }
  const start = `${url.replace(/^http/i, 'ws')}/sync/${organizationId}`
  return {
    url,
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': apiKey,
      'x-service-auth-token': authToken,
    },
    dialect: yWebsocketMessages,
    organizationId,
    pid,
    socketUrl: (documentId) => `${start}/${documentId}/main?token=${token}`,
    end,
  }
}
