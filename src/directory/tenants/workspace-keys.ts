import type { Key } from '../../engine/engine.ts'
import type { Tenant } from '../../model/address.ts'

/**
 * Workspaces, API keys, tokens and domains are few and change rarely: they form one partition, so that a
 * change is one commit.
 */
export const workspacesPart: Key = ['directory']

const ofWorkspace = (workspaceId: string): Key => ['workspaces', workspaceId]

/**
 * The owner comes first, so that all records of a workspace are one range. Indexes serve reads without the
 * owner.
 */
export const workspaceKeys = {
  workspaces: ['workspaces'] satisfies Key,
  workspace: ofWorkspace,
  apiKeys: (workspaceId: string): Key => [...ofWorkspace(workspaceId), 'apiKeys'],
  apiKey: ({ workspaceId, apiKey }: Tenant): Key => [...workspaceKeys.apiKeys(workspaceId), apiKey],
  /** Number of API keys. */
  apiKeyCount: (workspaceId: string): Key => [...ofWorkspace(workspaceId), 'apiKeyCount'],
  authTokens: ({ workspaceId, apiKey }: Tenant): Key => [...ofWorkspace(workspaceId), 'authTokens', apiKey],
  authToken: (tenant: Tenant, name: string): Key => [...workspaceKeys.authTokens(tenant), name],
  /** One record: replaced tokens that are still valid for some time. */
  retiredTokens: ({ workspaceId, apiKey }: Tenant): Key => [
    ...ofWorkspace(workspaceId),
    'retiredTokens',
    apiKey,
  ],
  /** One record: all domains of an API key. */
  domains: ({ workspaceId, apiKey }: Tenant): Key => [...ofWorkspace(workspaceId), 'domains', apiKey],
  /** One record: the minting secrets of an API key. */
  mintingSecrets: ({ workspaceId, apiKey }: Tenant): Key => [
    ...ofWorkspace(workspaceId),
    'mintingSecrets',
    apiKey,
  ],
  ownersOfApiKeys: ['ownerOfApiKey'] satisfies Key,
  ownerOfApiKey: (apiKey: string): Key => ['ownerOfApiKey', apiKey],
  /** Index: number of API keys that list a domain. */
  domainUses: (domain: string): Key => ['domainUses', domain],
}
