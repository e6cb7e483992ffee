import { Api, CallError } from './api.ts'
import type { Credentials } from './credentials.ts'

export interface ApiKey {
  readonly id: string
  readonly apiKeyName: string
  readonly type: string
}

/** Those of an API key, if they are good. @throws CallError */
async function checked(credentials: Credentials): Promise<Credentials> {
  await new Api(credentials).page('/v2/organizations/get', { pageSize: 1 })
  return credentials
}

/** What comes of signing in: a workspace with several API keys has to say which. */
export type SignedIn =
  | { readonly kind: 'in'; readonly credentials: Credentials }
  | { readonly kind: 'choose'; readonly keys: readonly ApiKey[] }

/** With what was given: an API key, a workspace, or nothing, as a server without authentication takes it. @throws CallError */
export async function signIn(credentials: Credentials): Promise<SignedIn> {
  const { apiKey, workspaceId } = credentials
  if (apiKey === undefined && workspaceId !== undefined) return intoWorkspace(credentials)
  return { kind: 'in', credentials: await checked(credentials) }
}

/** With id and token of a workspace, which has API keys or gets some. @throws CallError */
async function intoWorkspace(workspace: Credentials): Promise<SignedIn> {
  const keys = await apiKeysOf(workspace)
  const [only] = keys
  if (keys.length > 1) return { kind: 'choose', keys }
  return { kind: 'in', credentials: only === undefined ? workspace : await withKey(workspace, only.id) }
}

/** The API keys that a workspace has. @throws CallError */
async function apiKeysOf(workspace: Credentials): Promise<readonly ApiKey[]> {
  const api = new Api(workspace)
  const keys: ApiKey[] = []
  let pageToken: string | undefined
  do {
    const page = await api.page<readonly ApiKey[]>('/v2/workspace/apikeys/get', { pageToken })
    keys.push(...page.data)
    pageToken = page.pageToken
  } while (pageToken !== undefined)
  return keys
}

interface AuthTokens {
  readonly authTokens: readonly { readonly token: string }[]
}

/** What a workspace works on one of its keys with. @throws CallError */
export async function withKey(workspace: Credentials, apiKey: string): Promise<Credentials> {
  const { authTokens } = await new Api(workspace).call<AuthTokens>('/v2/workspace/authtokens/get', { apiKey })
  const [first] = authTokens
  if (first === undefined) throw new CallError('FAILED_PRECONDITION', 'the API key has no auth token')
  return { ...workspace, apiKey, authToken: first.token }
}
