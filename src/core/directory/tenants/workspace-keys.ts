import type { Tenant } from '../../model/address.ts'
import type { Key } from '../../store/engine.ts'

/**
 * The partition of workspaces, API keys, tokens and domains. There are few of these records, and they change
 * rarely. Therefore they share one partition, and each change is one commit.
 */
export const workspacesPart: Key = ['directory']

const ofWorkspace = (workspaceId: string): Key => ['workspaces', workspaceId]

/**
 * Keys in `workspacesPart`. A key begins with the id of the workspace, so that all records of a workspace
 * form one range. The indexes serve reads for which the workspace is not known.
 */
export const workspaceKeys = {
  workspaces: ['workspaces'] satisfies Key,
  workspace: ofWorkspace,
  apiKeys: (workspaceId: string): Key => [...ofWorkspace(workspaceId), 'apiKeys'],
  apiKey: ({ workspaceId, apiKey }: Tenant): Key => [...workspaceKeys.apiKeys(workspaceId), apiKey],
  /** Counter: the number of API keys of a workspace. */
  apiKeyCount: (workspaceId: string): Key => [...ofWorkspace(workspaceId), 'apiKeyCount'],
  authTokens: ({ workspaceId, apiKey }: Tenant): Key => [...ofWorkspace(workspaceId), 'authTokens', apiKey],
  authToken: (tenant: Tenant, name: string): Key => [...workspaceKeys.authTokens(tenant), name],
  /** Record with the replaced tokens of an API key that are still valid for some time. */
  retiredTokens: ({ workspaceId, apiKey }: Tenant): Key => [
    ...ofWorkspace(workspaceId),
    'retiredTokens',
    apiKey,
  ],
  /** Record with all domains of an API key. */
  domains: ({ workspaceId, apiKey }: Tenant): Key => [...ofWorkspace(workspaceId), 'domains', apiKey],
  /** Record with the minting secrets of an API key. */
  mintingSecrets: ({ workspaceId, apiKey }: Tenant): Key => [
    ...ofWorkspace(workspaceId),
    'mintingSecrets',
    apiKey,
  ],
  ownersOfApiKeys: ['ownerOfApiKey'] satisfies Key,
  ownerOfApiKey: (apiKey: string): Key => ['ownerOfApiKey', apiKey],
  /** Index: for each domain, the number of API keys that list it. */
  domainUses: (domain: string): Key => ['domainUses', domain],
}
