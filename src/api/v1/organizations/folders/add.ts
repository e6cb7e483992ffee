import { foldersRequest } from '../../../folder-schema.ts'
import { countOf, keyedResults } from '../../../keyed.ts'
import { operation } from '../../../operation.ts'
import { noOrganization } from '../../../resource-schema.ts'

export const addFolders = operation({
  path: '/v1/organizations/folders/add',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Add folders',
  description:
    'Also into each other, in any order. One that exists already is left as it is: `success` is false for it.',
  request: foldersRequest,
  response: keyedResults,
  errors: [noOrganization],
  async handler({ organizationId, folders }, { caller, services }) {
    const results = await services.folders.add({ ...caller.tenant, organizationId }, folders)
    return { message: `${countOf(results)} folders added.`, data: results }
  },
})
