import { defineOperation } from '../../../operation.ts'
import { batchResults, countSucceeded, isAnySuccessful, keyedBatch } from '../../../schemas/batch-results.ts'
import { foldersRequest } from '../../../schemas/folder-schema.ts'
import { organizationNotFound } from '../../../schemas/resource-schema.ts'
import { createMissingFlag } from '../../../schemas/user-schema.ts'

export const addFolders = defineOperation({
  path: '/v1/organizations/folders/add',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  grows: 'records',
  summary: 'Add folders',
  description: 'Also into each other, in any order. An existing folder is not changed (`success: false`).',
  batch: keyedBatch({ folders: 'folderId' }),
  request: {
    ...foldersRequest,
    properties: { ...foldersRequest.properties, createMissing: createMissingFlag },
  },
  response: batchResults,
  errors: [organizationNotFound],
  async handler({ organizationId, folders, createMissing }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId }
    if (createMissing ?? services.createMissing) {
      const results = await services.folders.rehearseAdding(scope, folders)
      if (!isAnySuccessful(results)) return { message: 'No folders added.', data: results }
      await services.organizations.ensure(scope)
    }
    const results = await services.folders.add(scope, folders)
    return { message: `${countSucceeded(results)} folders added.`, data: results }
  },
})
