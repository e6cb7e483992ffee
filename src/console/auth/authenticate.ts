import type {
  WorkspaceApikeysGetDataItem,
  WorkspaceAuthtokensGetData,
} from '../../client/api/operation-types.ts'
import { ApiCallError, ApiClient } from '../api/client.ts'
import type { ConsoleCredentials } from '../api/credentials.ts'

export type ApiKey = WorkspaceApikeysGetDataItem

/**
 * Checks with a call that the server accepts the credentials, and returns them. The credentials are those of
 * an API key, or those of a workspace without an API key.
 * @throws ApiCallError if the server rejects the credentials
 */
export async function verifyCredentials(credentials: ConsoleCredentials): Promise<ConsoleCredentials> {
  const api = new ApiClient(credentials)
  const path = api.hasApiKey ? '/v2/organizations/get' : '/v2/workspace/apikeys/get'
  await api.call(path, { pageSize: 1 })
  return credentials
}

/** Result of a sign-in. If the workspace has several API keys, the user must choose one. */
type SignedIn =
  | { readonly kind: 'in'; readonly credentials: ConsoleCredentials }
  | { readonly kind: 'choose'; readonly keys: readonly ApiKey[] }

/**
 * Signs in with the credentials of an API key or of a workspace. If the server requires no credentials, they
 * may be empty.
 * @throws ApiCallError
 */
export async function authenticate(credentials: ConsoleCredentials): Promise<SignedIn> {
  if (!new ApiClient(credentials).hasApiKey) return intoWorkspace(credentials)
  return { kind: 'in', credentials: await verifyCredentials(credentials) }
}

/**
 * Signs in with the id and the token of a workspace. The workspace may have no API keys yet.
 * @throws ApiCallError
 */
async function intoWorkspace(workspace: ConsoleCredentials): Promise<SignedIn> {
  const keys = await apiKeysOf(workspace)
  const [only] = keys
  if (keys.length > 1) return { kind: 'choose', keys }
  return {
    kind: 'in',
    credentials: only === undefined ? workspace : await authenticateWithKey(workspace, only.id),
  }
}

/** Returns the API keys of a workspace. @throws ApiCallError */
async function apiKeysOf(workspace: ConsoleCredentials): Promise<readonly ApiKey[]> {
  const keys: ApiKey[] = []
  const pages = new ApiClient(workspace).pages<readonly ApiKey[]>('/v2/workspace/apikeys/get')
  for await (const page of pages) keys.push(...page)
  return keys
}

/** Returns credentials with which the workspace uses one of its API keys. @throws ApiCallError */
export async function authenticateWithKey(
  workspace: ConsoleCredentials,
  apiKey: string,
): Promise<ConsoleCredentials> {
  const { authTokens } = await new ApiClient(workspace).call<WorkspaceAuthtokensGetData>(
    '/v2/workspace/authtokens/get',
    {
      apiKey,
    },
  )
  const [first] = authTokens
  if (first === undefined) throw new ApiCallError('FAILED_PRECONDITION', 'the API key has no auth token')
  return { ...workspace, apiKey, authToken: first.token }
}
