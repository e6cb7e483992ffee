import type { Credentials } from '../directory/credentials-file.ts'

/** What a backend needs, as it is shown once. */
export const credentialLines = ({
  apiKey,
  authToken,
  workspaceId,
  workspaceAuthToken,
}: Credentials): string => `  API key               ${apiKey}
  auth token            ${authToken}
  workspace             ${workspaceId}
  workspace auth token  ${workspaceAuthToken}`
