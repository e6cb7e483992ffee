import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { contentErrors } from '../../../../../../rest/schemas/content-format.ts'
import { noSuchVersion, versionedAddress, versionedEditor, versionId } from '../../../version-schema.ts'

export const deleteVersion = defineOperation({
  path: '/v2/crdt/versions/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete a version',
  description: 'Its authors become those of the next newer version. The document stays as it is.',
  request: json.object({ ...versionedEditor, versionId }),
  response: json.object({ versionId: { type: 'string', examples: versionId.examples } }),
  errors: [...contentErrors, noSuchVersion],
  async handler({ versionId: id, ...editor }, { caller, services }) {
    const address = await versionedAddress(editor, caller, services)
    await services.versions.delete(address, id)
    return { message: 'Version deleted.', data: { versionId: id } }
  },
})
