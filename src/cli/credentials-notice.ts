import type { ServerCredentials } from '../core/directory/tenants/credentials-file.ts'

/** Returns lines that contain the credentials for a backend. These lines are printed only once. */
export const credentialLines = ({
  apiKey,
  authToken,
  workspaceId,
  workspaceAuthToken,
}: ServerCredentials): string => `  API key               ${apiKey}
  auth token            ${authToken}
  workspace             ${workspaceId}
  workspace auth token  ${workspaceAuthToken}`
