import { randomBytes } from 'node:crypto'
import { callServing, type ServingServer } from '../../transfer/serving.ts'
import { plain } from './dialect.ts'
import type { CallTarget } from './http-caller.ts'
import { startOwnServer } from './own-server.ts'
import type { Speaker } from './typing.ts'

/** The server that is measured. */
export interface Target extends CallTarget, Speaker {
  /** What is written is in an organization of its own. */
  readonly organizationId: string
  /** Null: it is not ours. */
  readonly pid: number | null
  /** Where the websocket of a document is. */
  readonly socketUrl: (documentId: string) => string
  /** Removes what was written. */
  readonly end: () => Promise<void>
}

/** A server that serves. Its limits hold. @throws StorageError */
export async function targetAt(server: ServingServer): Promise<Target> {
  const organizationId = `weft-bench-${randomBytes(6).toString('hex')}`
  return targetOf(server, organizationId, null, async () => {
    await callServing(server, '/v2/organizations/delete', { organizationIds: [organizationId] })
  })
}

/** A server of our own, whose directory is removed at the end. @throws StorageError */
export async function ownTarget(): Promise<Target> {
  const { port, apiKey, authToken, pid, end } = await startOwnServer()
  try {
    return await targetOf({ url: `http://127.0.0.1:${port}`, apiKey, authToken }, 'bench', pid, end)
  } catch (error) {
    await end()
    throw error
  }
}

async function targetOf(
  server: ServingServer,
  organizationId: string,
  pid: number | null,
  end: () => Promise<void>,
): Promise<Target> {
  const { apiKey, authToken } = server
  const url = server.url.replace(/\/+$/, '')
  const user = { userId: 'weft-bench', userProperties: { name: 'weft bench', email: '' } }
  const { data } = await callServing(server, '/v2/auth/generate_token', user)
  const { token } = data as { token: string }
  const start = `${url.replace(/^http/i, 'ws')}/sync/${organizationId}`
  return {
    url,
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': apiKey,
      'x-service-auth-token': authToken,
    },
    dialect: plain,
    organizationId,
    pid,
    socketUrl: (documentId) => `${start}/${documentId}/main?token=${token}`,
    end,
  }
}
