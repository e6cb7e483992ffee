import { ApiError } from '../../core/base/errors.ts'
import { type FromSchema, json } from '../../core/base/schema.ts'
import { emptyBatchResults } from '../../core/directory/store/batch.ts'
import type {
  ApiKeyRecord,
  AuthTokenRecord,
  MintingSecretRecord,
  WorkspaceRecord,
} from '../../core/directory/store/records.ts'
import type { DomainsChange } from '../../core/directory/tenants/domain-service.ts'
import { domainTextMax, normalizeDomain } from '../../core/model/domain.ts'
import { invalidAt, type ValidationIssue } from '../validator.ts'

export const domainList = json.list(
  { type: 'string', maxLength: domainTextMax },
  {
    maxItems: 100,
    description:
      'Domains or URLs. A URL stands for its domain without a leading `www.`. `*.example.com` matches all subdomains, ' +
      'but not example.com itself.',
    examples: [['https://www.example.com/app', '*.example.com']],
  },
)

/** Schema of the list of changed domains in a response. */
export const changedDomains = json.list(json.text(), { description: 'As they are stored.' })

/**
 * Returns the domains in their stored form.
 * @param path JSON pointer of the list in the body
 * @throws ApiError INVALID_ARGUMENT with an issue for each entry that is not a domain
 */
export function normalizeDomains(texts: readonly string[], path: string): readonly string[] {
  const domains = texts.map(normalizeDomain)
  const [first, ...others] = domains.flatMap((domain, index): ValidationIssue[] =>
    domain === null
      ? [
          {
            path: `${path}/${index}`,
            message: `is not a domain name: ${quote(texts[index])}; expected a host such as example.com or *.example.com`,
          },
        ]
      : [],
  )
  if (first !== undefined) throw invalidAt(first, ...others)
  return domains.filter((domain) => domain !== null)
}

const quote = (text = ''): string => JSON.stringify(text.slice(0, 100))

/**
 * Returns the error that the specification requires if some domains of a call were already in the requested
 * state. All other domains have been changed.
 */
export function partialSuccess(
  message: string,
  member: string,
  { changed, skipped }: DomainsChange,
): ApiError {
  return new ApiError('domain/partly-changed', message, {
    details: { [member]: changed, skippedDomains: skipped },
  })
}

export const apiKeyEntry = json.object({
  id: json.text('The API key.'),
  apiKeyName: json.text('Name for people.'),
  type: json.choice(['testing', 'production'], 'A label without effect.'),
})

export const authTokenEntry = json.object({
  token: json.text('The auth token of the API key.'),
  name: json.text('Name for people.'),
  domains: json.list(json.text(), {
    description: 'Domains of the pages that may use the token; empty: all.',
  }),
})

export const mintingSecretEntry = json.object(
  {
    id: json.text('Id of the secret.'),
    createdAt: json.integer('Epoch milliseconds.'),
  },
  { validUntil: json.integer('Epoch milliseconds; absent for the current secret.') },
)

/** Members of a Workspace record. */
export const workspaceProperties = {
  id: json.text('Id of the workspace.'),
  name: json.text('Name of the workspace.'),
  owner: json.object({
    email: json.text('E-mail address.'),
    id: json.text('Generated id of the owner.'),
    name: json.text('Display name.'),
    avatar: json.text("URL of a picture; '' without one."),
  }),
  authToken: json.text('The workspace auth token.'),
  apiKeyList: json.map(apiKeyEntry, { description: 'By API key.' }),
} as const

export const workspaceResponse = json.object(workspaceProperties, {
  storage: json.object(
    {
      storedBytes: json.integer('Bytes that the workspace stores (an estimate).'),
      storedBytesMax: json.integer('Bytes that it may store.'),
    },
    {},
    { description: 'Absent if the workspace has no storage limit.' },
  ),
  callLimit: json.object(
    {
      callsPerSecond: json.integer('Calls per second that the workspace may make.'),
      burst: json.integer('Calls at once after a pause.'),
    },
    {},
    { description: 'Absent if the workspace has no call limit of its own.' },
  ),
  attribution: json.boolean('False if the workspace does not keep the authors of changes; absent otherwise.'),
})

export const attributionEnabled = json.boolean('False: the workspace does not keep the authors of changes.', {
  examples: [true],
})

/** Maximum storage limit that a workspace can have, in bytes. */
const storedBytesMaxMax = 2 ** 50

export const storedBytesMax = json.integer(
  'Bytes that the workspace may store; 0 means unlimited. Default: the option `maxStoredBytesPerWorkspace`.',
  { minimum: 0, maximum: storedBytesMaxMax },
)

/** An API key of the caller's workspace. */
export const apiKeyOfWorkspace = json.id('API key of the workspace.')

/** Maximum grace period in seconds (30 days). */
const graceSecondsMax = 2_592_000

export const graceSeconds = json.integer('Time in seconds for which the replaced token stays valid.', {
  minimum: 0,
  maximum: graceSecondsMax,
  default: 0,
})

export const noSuchApiKeyError = {
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
