import { reportCreated } from '../../../near-miss-warnings.ts'
import { type CreatedLists, defineOperation } from '../../../operation.ts'
import { batchResults, countSucceeded, isAnySuccessful, keyedBatch } from '../../../schemas/batch-results.ts'
import { foldersRequest } from '../../../schemas/folder-schema.ts'
import { organizationNotFound } from '../../../schemas/resource-schema.ts'
import { createMissingFlag, createOrganizationFlag } from '../../../schemas/user-schema.ts'

export const addFolders = defineOperation({
  path: '/v1/organizations/folders/add',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  grows: 'records',
  warns: true,
  creates: true,
  summary: 'Add folders',
  description: 'Also into each other, in any order. An existing folder is not changed (`success: false`).',
  batch: keyedBatch({ folders: 'folderId' }),
  request: {
    ...foldersRequest,
    properties: {
      ...foldersRequest.properties,
      createMissing: createMissingFlag,
      createOrganization: createOrganizationFlag,
    },
  },
  response: batchResults,
  errors: [organizationNotFound],
  async handler({ organizationId, folders, createMissing = true, createOrganization }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId }
    let created: CreatedLists = {}
    if (createOrganization ?? createMissing) {
      const results = await services.folders.rehearseAdding(scope, folders)
      if (!isAnySuccessful(results)) return { message: 'No folders added.', data: results, created }
      if (await services.organizations.ensure(scope)) created = { organizations: [organizationId] }
    }
    const results = await services.folders.add(scope, folders)
    const reported = await reportCreated(services, scope, created)
    return { message: `${countSucceeded(results)} folders added.`, data: results, ...reported }
  },
})
