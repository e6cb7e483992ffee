import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { contentErrors } from '../../../../../../rest/schemas/content-format.ts'
import { checkMetadataAt, metadata } from '../../../../../../rest/schemas/resource-schema.ts'
import { versionLimits } from '../../../../limits.ts'
import {
  toVersionResponse,
  versionedAddress,
  versionedEditor,
  versionLabel,
  versionRecord,
} from '../../../version-schema.ts'

export const createVersion = defineOperation({
  path: '/v2/crdt/versions/create',
  auth: 'key',
  effect: 'once',
  runsAt: 'owner',
  audited: 'change',
  grows: 'editors',
  makes: ['versionId'],
  summary: 'Save a version of an editor',
  description:
    'Saves the current content until the version, the editor or its document is deleted. Versions of equal ' +
    'content share its space.',
  request: json.object(
    { ...versionedEditor },
    {
      label: versionLabel,
      metadata,
      userId: json.id('User who creates the version; returned as `createdBy`.'),
    },
  ),
  response: versionRecord,
  errors: [
    ...contentErrors,
    {
      code: 'version/too-many',
      when: `the editor has ${versionLimits.manual} versions that were made by this call`,
    },
  ],
  async handler(data, { caller, services }) {
    checkMetadataAt('/data/metadata', data.metadata)
    const address = await versionedAddress(data, caller, services)
    const record = await services.versions.create(address, data)
    return { message: 'Version created.', data: toVersionResponse(record) }
  },
})
