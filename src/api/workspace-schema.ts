import { noResults } from '../directory/items.ts'
import type { ApiKeyRecord, AuthTokenRecord, WorkspaceRecord } from '../directory/records.ts'
import type { From } from './schema.ts'

export const apiKeyEntry = {
  type: 'object',
  required: ['id', 'apiKeyName', 'type'],
  properties: {
    id: { type: 'string', description: 'The API key.' },
    apiKeyName: { type: 'string', description: 'Name for people.' },
    type: {
      type: 'string',
      enum: ['testing', 'production'],
      description: 'For people; makes no difference.',
    },
  },
} as const

export const authTokenEntry = {
  type: 'object',
  required: ['token', 'name', 'domains'],
  properties: {
    token: { type: 'string', description: 'The auth token of the API key.' },
    name: { type: 'string', description: 'Name for people.' },
    domains: {
      type: 'array',
      items: { type: 'string' },
      description: 'Domains of the pages that may use the token; none: any.',
    },
  },
} as const

/** Members of a Workspace record. */
export const workspaceProperties = {
  id: { type: 'string', description: 'Id of the workspace.' },
  name: { type: 'string', description: 'Name of the workspace.' },
  owner: {
    type: 'object',
    required: ['email', 'id', 'name', 'avatar'],
    properties: {
      email: { type: 'string', description: 'E-mail address.' },
      id: { type: 'string', description: 'Id made for the owner.' },
      name: { type: 'string', description: 'Display name.' },
      avatar: { type: 'string', description: "URL of a picture; '' when there is none." },
    },
  },
  authToken: { type: 'string', description: 'The workspace auth token.' },
  apiKeyList: { type: 'object', additionalProperties: apiKeyEntry, description: 'By API key.' },
} as const

export const workspaceMembers = ['id', 'name', 'owner', 'authToken', 'apiKeyList'] as const

export const workspaceResponse = {
  type: 'object',
  required: workspaceMembers,
  properties: workspaceProperties,
} as const

/** An API key of the caller's workspace. */
export const apiKeyOfWorkspace = {
  type: 'string',
  format: 'id',
  description: 'API key of the workspace.',
} as const

/** 30 days. */
const graceSecondsMax = 2_592_000

export const graceSeconds = {
  type: 'integer',
  minimum: 0,
  maximum: graceSecondsMax,
  default: 0,
  description: 'Time for which the replaced token stays good.',
} as const

export const noSuchApiKeyError = { status: 'NOT_FOUND', when: 'the workspace has no such API key' } as const

export const showApiKey = ({ id, apiKeyName, type }: ApiKeyRecord): From<typeof apiKeyEntry> => ({
  id,
  apiKeyName,
  type,
})

export const showAuthToken = ({ token, name, domains }: AuthTokenRecord): From<typeof authTokenEntry> => ({
  token,
  name,
  domains,
})

/** A workspace with its API keys, as callers see it. */
export function showWorkspace(
  { id, name, owner, authToken }: WorkspaceRecord,
  apiKeys: readonly ApiKeyRecord[],
): From<typeof workspaceResponse> {
  const apiKeyList = noResults<From<typeof apiKeyEntry>>()
  for (const apiKey of apiKeys) apiKeyList[apiKey.id] = showApiKey(apiKey)
  return { id, name, owner, authToken, apiKeyList }
}
