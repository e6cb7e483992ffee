import { ApiError } from '../../../core/base/errors.ts'
import { json } from '../../../core/base/schema.ts'
import { apiKeysMax } from '../../../core/directory/tenants/tenant-store.ts'
import { exhausted } from '../../../core/quota/limits.ts'
import { defineOperation } from '../../operation.ts'
import { toWorkspaceResponse, workspaceResponse } from '../../schemas/workspace-schema.ts'

export const getWorkspace = defineOperation({
  path: '/v2/workspace/get',
  auth: 'workspace',
  effect: 'reads',
  audited: 'admin',
  summary: 'Read the workspace',
  description: `Returns the workspace and its API keys (at most ${apiKeysMax}). The number of calls per minute is limited.`,
  request: json.object({}),
  response: workspaceResponse,
  async handler(_data, { caller: { workspaceId }, services: { tenants, workspaceReads, storage } }) {
    if (workspaceReads?.take(workspaceId) === false)
      throw exhausted('workspaceReadsPerMinute', workspaceReads.perMinute, {
        problem: 'the rate limit is exceeded',
        remedy: 'retry after 1 minute',
        retryAfterSeconds: 60,
      })
    const workspace = await tenants.workspace(workspaceId)
    if (workspace === null)
      throw new ApiError('workspace/not-found', 'the workspace does not exist; check its id')
    const { items } = await tenants.apiKeys(workspaceId)
    const usage = await storage.usage(workspaceId)
    const data = { ...toWorkspaceResponse(workspace, items), ...(usage && { storage: usage }) }
    return { message: 'Workspace found.', data }
  },
})
