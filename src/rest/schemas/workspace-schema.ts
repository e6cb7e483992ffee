import type { FromSchema } from '../../core/base/schema.ts'
import { emptyBatchResults } from '../../core/directory/store/batch.ts'
import type {
  ApiKeyRecord,
  AuthTokenRecord,
  MintingSecretRecord,
  WorkspaceRecord,
} from '../../core/directory/store/records.ts'

export const apiKeyEntry = {
  type: 'object',
  required: ['id', 'apiKeyName', 'type'],
  properties: {
    id: { type: 'string', description: 'The API key.' },
    apiKeyName: { type: 'string', description: 'Name for people.' },
    type: {
      type: 'string',
      enum: ['testing', 'production'],
      description: 'A label without effect.',
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
      description: 'Domains of the pages that may use the token; empty: all.',
    },
  },
} as const

export const mintingSecretEntry = {
  type: 'object',
  required: ['id', 'createdAt'],
  properties: {
    id: { type: 'string', description: 'Id of the secret.' },
    createdAt: { type: 'integer', description: 'Epoch milliseconds.' },
    validUntil: { type: 'integer', description: 'Epoch milliseconds; absent for the current secret.' },
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
      id: { type: 'string', description: 'Generated id of the owner.' },
      name: { type: 'string', description: 'Display name.' },
      avatar: { type: 'string', description: "URL of a picture; '' without one." },
    },
  },
  authToken: { type: 'string', description: 'The workspace auth token.' },
  apiKeyList: { type: 'object', additionalProperties: apiKeyEntry, description: 'By API key.' },
} as const

export const workspaceMembers = ['id', 'name', 'owner', 'authToken', 'apiKeyList'] as const

export const workspaceResponse = {
  type: 'object',
  required: workspaceMembers,
  properties: {
    ...workspaceProperties,
    storage: {
      type: 'object',
      required: ['storedBytes', 'storedBytesMax'],
      properties: {
        storedBytes: { type: 'integer', description: 'Bytes that the workspace stores (an estimate).' },
        storedBytesMax: { type: 'integer', description: 'Bytes that it may store.' },
      },
      description: 'Absent if the workspace has no storage limit.',
    },
    callLimit: {
      type: 'object',
      required: ['callsPerSecond', 'burst'],
      properties: {
        callsPerSecond: { type: 'integer', description: 'Calls per second that the workspace may make.' },
        burst: { type: 'integer', description: 'Calls at once after a pause.' },
      },
      description: 'Absent if the workspace has no call limit of its own.',
    },
    attribution: {
      type: 'boolean',
      description: 'False if the workspace does not keep the authors of changes; absent otherwise.',
    },
  },
} as const

export const attributionEnabled = {
  type: 'boolean',
  description: 'False: the workspace does not keep the authors of changes.',
  examples: [true],
} as const

/** Maximum storage limit that a workspace can have, in bytes. */
const storedBytesMaxMax = 2 ** 50

export const storedBytesMax = {
  type: 'integer',
  minimum: 0,
  maximum: storedBytesMaxMax,
  description:
    'Bytes that the workspace may store; 0 means unlimited. Default: the option `maxStoredBytesPerWorkspace`.',
} as const

/** An API key of the caller's workspace. */
export const apiKeyOfWorkspace = {
  type: 'string',
  format: 'id',
  description: 'API key of the workspace.',
} as const

/** Maximum grace period in seconds (30 days). */
const graceSecondsMax = 2_592_000

export const graceSeconds = {
  type: 'integer',
  minimum: 0,
  maximum: graceSecondsMax,
  default: 0,
  description: 'Time in seconds for which the replaced token stays valid.',
} as const

export const noSuchApiKeyError = {
  status: 'NOT_FOUND',
  code: 'api-key/not-found',
  when: 'the workspace does not have this API key',
} as const

export const toApiKeyResponse = ({ id, apiKeyName, type }: ApiKeyRecord): FromSchema<typeof apiKeyEntry> => ({
  id,
  apiKeyName,
  type,
})

export const toAuthTokenResponse = ({
  token,
  name,
  domains,
}: AuthTokenRecord): FromSchema<typeof authTokenEntry> => ({
  token,
  name,
  domains,
})

export const toMintingSecretResponse = ({
  id,
  createdAt,
  validUntil,
}: MintingSecretRecord): FromSchema<typeof mintingSecretEntry> => ({
  id,
  createdAt,
  ...(validUntil !== undefined && { validUntil }),
})

/** Converts a workspace with its API keys to its response. */
export function toWorkspaceResponse(
  { id, name, owner, authToken, attribution, calls }: WorkspaceRecord,
  apiKeys: readonly ApiKeyRecord[],
): FromSchema<typeof workspaceResponse> {
  const apiKeyList = emptyBatchResults<FromSchema<typeof apiKeyEntry>>()
  for (const apiKey of apiKeys) apiKeyList[apiKey.id] = toApiKeyResponse(apiKey)
  return {
    id,
    name,
    owner,
    authToken,
    apiKeyList,
    ...(calls && { callLimit: { callsPerSecond: calls.perSecond, burst: calls.burst } }),
    ...(attribution === false && { attribution }),
  }
}
