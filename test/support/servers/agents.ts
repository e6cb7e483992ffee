import type { TokenGrant } from '../../../src/core/access/identity.ts'
import { type Answer, dataOf, type TestServer } from './server.ts'

/** Members of an agent's token. */
export interface AgentTokenOptions {
  readonly name?: string
  /** Default: the token has the permissions of its user. */
  readonly resources?: readonly (Omit<TokenGrant, 'organizationId'> & { readonly organizationId?: string })[]
  readonly model?: string
  readonly onBehalfOf?: string
  readonly policy?: 'read-only' | 'suggest-only' | 'no-delete'
  readonly protected?: readonly string[]
  readonly expiresInSeconds?: number
}

/** Creates the token of an agent. */
export async function agentToken(
  { post }: Pick<TestServer, 'post'>,
  userId: string,
  { name = userId, resources, ...options }: AgentTokenOptions = {},
): Promise<string> {
  const answer = await post('/v2/auth/generate_token', {
    userId,
    userProperties: { name, email: '' },
    agent: true,
    ...(resources !== undefined && { permissions: { resources } }),
    ...options,
  })
  return (dataOf(answer) as { token: string }).token
}

/** A call of an operation with a bearer token instead of an API key. */
export type AgentCall = (
  path: string,
  data: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>

export const withoutKey = { 'x-service-api-key': '', 'x-service-auth-token': '' } as const

/** Returns a function that calls operations with a token. */
export const callsWith =
  ({ post }: Pick<TestServer, 'post'>, token: string): AgentCall =>
  (path, data, headers = {}) =>
    post(path, data, { ...withoutKey, authorization: `Bearer ${token}`, ...headers })

/** Returns the code of the error in a response; undefined for a success. */
export const codeOf = ({ body }: Answer): string | undefined => body.error?.details?.code

/** A grant on a document. */
export const grantOn = (
  accessRole: TokenGrant['accessRole'],
  documentId: string,
  organizationId = 'acme',
): TokenGrant => ({ type: 'document', id: documentId, organizationId, accessRole })
