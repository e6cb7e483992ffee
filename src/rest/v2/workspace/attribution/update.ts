import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import { attributionEnabled } from '../../../schemas/workspace-schema.ts'

export const updateAttribution = defineOperation({
  path: '/v2/workspace/attribution/update',
  auth: 'workspace',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Enable or disable attribution',
  description:
    'While attribution is disabled, the server stores no `meta`, and compactions discard the authors of changes. Nodes ' +
    'follow within 10 seconds.',
  request: json.object({ enabled: attributionEnabled }),
  response: null,
  async handler({ enabled }, { caller: { workspaceId }, services: { workspaces, attribution } }) {
    await workspaces.setAttribution(workspaceId, enabled)
    attribution.forget(workspaceId)
    return { message: 'Attribution updated.', data: undefined }
  },
})
