import {
  baseVersionErrors,
  schemaErrors,
  unsupportedContent,
  updateEditorContent,
  updateRequest,
  withEncodedData,
  writeErrors,
  writtenResponse,
} from '../../editor-content.ts'
import { defineOperation } from '../../operation.ts'
import { contentErrors } from '../../schemas/content-format.ts'

/** The error of a write to a root that the editor does not have. */
const unknownRoot = {
  code: 'crdt/root-not-found',
  when: 'the editor has other roots than `contentKey`, and `newRoot` is not set',
} as const

export const updateContent = defineOperation({
  path: '/v2/crdt/update',
  auth: 'key',
  effect: 'once',
  runsAt: 'owner',
  audited: 'change',
  grows: 'content',
  warns: true,
  creates: true,
  summary: 'Replace the content of an editor',
  description:
    'Applies the smallest change that makes the live document equal to `data`, so that unchanged content keeps its ' +
    'cursors and formatting. Connected clients see the change at once. The same content again changes nothing. ' +
    'With `baseVersion` the change is merged with later edits. With `ifVersion` it is applied only if there are no ' +
    'later edits: use it to repeat a call with an unknown outcome.',
  request: updateRequest,
  response: writtenResponse,
  errors: [
    ...contentErrors,
    unknownRoot,
    unsupportedContent,
    ...schemaErrors,
    ...writeErrors,
    ...baseVersionErrors,
  ],
  async handler(data, { caller, services, text, full }) {
    return {
      message: 'Content updated.',
      ...(await updateEditorContent(withEncodedData(data, text), caller, services, full)),
    }
  },
})
