import type { AuthGenerateTokenData, WeftApi } from '../api/operation-types.ts'
import type { Result } from '../api/result.ts'
import type { CheckedUser, EndpointDocument } from './endpoint-user.ts'

/** Requests a realtime token that opens only the document. */
export const requestToken = (
  api: WeftApi,
  { organizationId, documentId }: EndpointDocument,
  { userId, name, email, role }: CheckedUser,
  expiresInSeconds: number,
): Promise<Result<AuthGenerateTokenData>> => {
  const resource = { type: 'document', id: documentId, organizationId, accessRole: role } as const
  const permissions = { resources: [resource] }
  return api.auth.generateToken(
    { userId, userProperties: { name, email }, permissions, expiresInSeconds },
    { timeoutMs: 15_000 },
  )
}
