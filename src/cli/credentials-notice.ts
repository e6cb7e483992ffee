import type { ServerCredentials } from '../directory/tenants/credentials-file.ts'

/** What a backend needs, as it is shown once. */
export const credentialLines = ({
  apiKey,
  authToken,
  workspaceId,
  workspaceAuthToken,
}: ServerCredentials): string => `  API key               ${apiKey}
  auth token            ${authToken}
  workspace             ${workspaceId}
  workspace auth token  ${workspaceAuthToken}`
