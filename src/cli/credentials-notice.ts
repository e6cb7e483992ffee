import type { ServerCredentials } from '../directory/tenants/credentials-file.ts'

/** Returns lines with the credentials for a backend, which are printed only once. */
export const credentialLines = ({
  apiKey,
  authToken,
  workspaceId,
  workspaceAuthToken,
}: ServerCredentials): string => `  API key               ${apiKey}
  auth token            ${authToken}
  workspace             ${workspaceId}
  workspace auth token  ${workspaceAuthToken}`
