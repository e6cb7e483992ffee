import { json } from '../../../../../../core/base/schema.ts'
import { storedMeta } from '../../../../../../rest/changes/change-meta.ts'
import {
  updateRequest,
  versionConflict,
  writeErrors,
  writtenResponse,
} from '../../../../../../rest/editor-content.ts'
import { defineOperation, warningsOf } from '../../../../../../rest/operation.ts'
import { contentErrors } from '../../../../../../rest/schemas/content-format.ts'
import { noSuchVersion, versionedAddress, versionedEditor, versionId } from '../../../version-schema.ts'

const { ifVersion, dryRun, meta } = updateRequest.properties

export const restoreVersion = defineOperation({
  path: '/v2/crdt/versions/restore',
  auth: 'key',
  effect: 'once',
  runsAt: 'owner',
  audited: 'change',
  warns: true,
  grows: 'editors',
  summary: 'Restore a version',
  description:
    'Applies the smallest change that gives every root of the live document the content of the version, with ' +
    'formatting; roots that the version does not have are emptied. Connected clients see the change at once, and their ' +
    'concurrent edits are merged. The replaced content becomes an automatic version. Restoring again changes nothing. ' +
    'If the editor has a schema, the restored content must match it where it changes; `warnings` names older differences.',
  request: json.object(
    { ...versionedEditor, versionId },
    {
      ifVersion,
      dryRun,
      userId: json.id('User who restores the version; returned as `lastUpdatedBy`.'),
      meta,
    },
  ),
  response: {
    type: 'object',
    required: [...writtenResponse.required, 'previousVersionId'],
    properties: {
      ...writtenResponse.properties,
      previousVersionId: {
        anyOf: [json.text(), { type: 'null' }],
        description: 'Id of the version with the replaced content; null without a change.',
        examples: versionId.examples,
      },
    },
  },
  errors: [...contentErrors, noSuchVersion, ...writeErrors, versionConflict],
  async handler(
    { versionId: id, userId, ifVersion: expected, dryRun: isDry, meta: given, ...editor },
    context,
  ) {
    const { caller, services } = context
    const stored = await storedMeta(given, caller, services)
    const address = await versionedAddress(editor, caller, services)
    const { bytes: past } = await services.versions.read(address, id)
    const { result, version, bytes, before } = await services.versions.restore(address, past, {
      userId,
      ifVersion: expected,
      dryRun: isDry,
      meta: stored,
      right: () => services.documents.rightToChange(address),
      schema: () => services.schemas.of(address),
    })
    const { warnings = [], ...written } = result
    const data = { version, ...written, bytes, previousVersionId: before?.versionId ?? null }
    return { message: 'Version restored.', data, ...warningsOf(warnings) }
  },
})
