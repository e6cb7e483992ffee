import { randomBytes } from 'node:crypto'
import { callOnline, type OnlineServer } from '../../capabilities/transfer/documents/rest-client.ts'
import { sendOnce } from '../../client/rest/send-by-path.ts'
import * as s from '../../core/base/schema.ts'
import { withoutTrailing } from '../../core/base/text.ts'
import { yWebsocketMessages } from '../bench/client-protocol.ts'
import type { HttpTarget } from '../bench/http-client.ts'
import type { TypingProtocol } from '../bench/typist.ts'
import { spawnServer } from './spawn-server.ts'

/** The server that is measured. */
export interface TargetServer extends HttpTarget, TypingProtocol {
  /** Id of the organization in which the load test writes all data. */
  readonly organizationId: string
  /** Process id of the server; null if the load test has not started the server. */
  readonly pid: number | null
  /** Returns the websocket URL of a document. */
  readonly socketUrl: (documentId: string) => string
  /** Removes the data of the load test. If the load test has started the server, also ends it. */
  readonly end: () => Promise<void>
}

/**
 * Prepares a running server for the measurement. The configured limits of this server apply.
 * @throws StorageError
 */
export async function remoteTarget(server: OnlineServer): Promise<TargetServer> {
  const organizationId = `weft-bench-${randomBytes(6).toString('hex')}`
  return targetOf(server, organizationId, null, async () => {
    await callOnline(server, '/v2/organizations/delete', { organizationIds: [organizationId] }, s.unknown)
  })
}

/**
 * Starts a server for the measurement. The data directory of the server is removed at the end.
 * @throws StorageError
 */
export async function spawnedTarget(): Promise<TargetServer> {
  const { port, apiKey, authToken, pid, end } = await spawnServer()
  try {
    const server = { url: `http://127.0.0.1:${port}`, apiKey, authToken }
    const send: OnlineServer['send'] = (path, data) => sendOnce(server, path, data)
    return await targetOf({ ...server, send }, 'bench', pid, end)
  } catch (error) {
    await end()
    throw error
  }
}

const tokenSchema = s.object({ token: s.string })

async function targetOf(
  server: OnlineServer,
  organizationId: string,
  pid: number | null,
  end: () => Promise<void>,
): Promise<TargetServer> {
  const { apiKey, authToken } = server
  const url = withoutTrailing('/', server.url)
  // User whose token all clients use. The user is an administrator, because access to new documents may be
  // restricted.
  const user = { userId: 'weft-bench', userProperties: { name: 'weft bench', email: '', isAdmin: true } }
  const { data } = await callOnline(server, '/v2/auth/generate_token', user, tokenSchema)
  const { token } = data
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
