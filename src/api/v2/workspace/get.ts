import { apiKeysMax } from '../../../directory/tenants.ts'
import { ApiError } from '../../../errors.ts'
import { exhausted } from '../../../quota/limits.ts'
import { operation } from '../../operation.ts'
import { showWorkspace, workspaceResponse } from '../../workspace-schema.ts'

export const getWorkspace = operation({
  path: '/v2/workspace/get',
  auth: 'workspace',
  effect: 'reads',
  audited: 'admin',
  summary: 'Read the workspace',
  description: `Answers the workspace and its API keys (at most ${apiKeysMax}). Limited to some calls a minute.`,
  request: { type: 'object', properties: {} },
  response: workspaceResponse,
  errors: [{ status: 'NOT_FOUND', when: 'the workspace does not exist' }],
  async handler(_data, { caller: { workspaceId }, services: { tenants, workspaceReads } }) {
    if (workspaceReads?.take(workspaceId) === false)
      throw exhausted(
        'rateLimitWorkspaceGetPerMinute',
        workspaceReads.perMinute,
        'the rate limit is exceeded: retry after 1 minute',
        60,
      )
    const workspace = await tenants.workspace(workspaceId)
    if (workspace === null) throw new ApiError('NOT_FOUND', 'the workspace does not exist')
    const { items } = await tenants.apiKeys(workspaceId)
    return { message: 'Workspace found.', data: showWorkspace(workspace, items) }
  },
})
