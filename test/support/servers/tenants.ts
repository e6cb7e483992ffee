import { dataOf, type TestServer } from './server.ts'

/** Admin token of servers on which tests create workspaces. */
export const adminToken = 'the-admin-token-of-limits'

export interface OtherTenant {
  readonly workspaceId: string
  readonly apiKey: string
  /** Headers with credentials, for `post`. */
  readonly headers: Readonly<Record<string, string>>
  /** A realtime token of the tenant. */
  readonly token: string
}

/** Creates a workspace with one API key. The server must have the admin token `adminToken`. */
export async function otherWorkspace({ post }: TestServer): Promise<OtherTenant> {
  const made = dataOf(
    await post(
      '/v2/workspace/create',
      { ownerEmail: 'grace@example.com' },
      { 'x-service-admin-token': adminToken },
    ),
  ) as { id: string; apiKey: string; apiKeyAuthToken: string }
  const headers = { 'x-service-api-key': made.apiKey, 'x-service-auth-token': made.apiKeyAuthToken }
  return { workspaceId: made.id, apiKey: made.apiKey, headers, token: await tokenOf(post, headers) }
}

/** Creates another API key in the workspace of the server. */
export async function otherKey({ post, credentials }: TestServer): Promise<Omit<OtherTenant, 'workspaceId'>> {
  const made = dataOf(
    await post(
      '/v2/workspace/apikey/create',
      { type: 'testing', apiKeyName: 'another' },
      {
        'x-service-workspace-id': credentials.workspaceId,
        'x-service-workspace-auth-token': credentials.workspaceAuthToken,
      },
    ),
  ) as { apiKey: string; authToken: string }
  const headers = { 'x-service-api-key': made.apiKey, 'x-service-auth-token': made.authToken }
  return { apiKey: made.apiKey, headers, token: await tokenOf(post, headers) }
}

async function tokenOf(post: TestServer['post'], headers: Readonly<Record<string, string>>): Promise<string> {
  const user = { userId: 'bob', userProperties: { name: 'Bob', email: 'bob@example.com' } }
  return (dataOf(await post('/v2/auth/generate_token', user, headers)) as { token: string }).token
}
