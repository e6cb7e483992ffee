import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import { storedBytesMax } from '../../../schemas/workspace-schema.ts'

export const updateStorageLimit = defineOperation({
  path: '/v2/workspace/storagelimit/update',
  auth: 'operator',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Limit the storage of a workspace',
  description: 'Sets how many bytes a workspace may store. Nodes follow within 10 seconds.',
  request: json.object(
    { workspaceId: json.id('The workspace.', { examples: ['ws_example'] }) },
    {
      storedBytesMax,
    },
  ),
  response: null,
  errors: [{ code: 'workspace/not-found', when: 'the workspace does not exist' }],
  async handler({ workspaceId, storedBytesMax: bytesMax }, { services: { workspaces, storage } }) {
    await workspaces.limitStorage(workspaceId, bytesMax ?? null)
    storage.forget(workspaceId)
    return { message: 'Storage limit updated.', data: undefined }
  },
})
