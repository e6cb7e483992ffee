import {
  documentBeingDeleted,
  updateEditorContent,
  updateRequest,
  writtenResponse,
} from '../../editor-content.ts'
import { defineOperation } from '../../operation.ts'

export const updateContent = defineOperation({
  path: '/v2/crdt/update',
  auth: 'key',
  effect: 'once',
  audited: 'change',
  grows: 'content',
  warns: true,
  summary: 'Replace the content of an editor',
  description:
    'Applies the smallest change that makes the live document equal to `data`, so that unchanged content keeps its ' +
    'cursors and formatting. Connected clients see the change at once. The same content again changes nothing. ' +
    'With `baseVersion` the change is merged with later edits. With `ifVersion` it is applied only if there are no ' +
    'later edits: use it to repeat a call with an unknown outcome.',
  request: updateRequest,
  response: writtenResponse,
  errors: [
    { status: 'NOT_FOUND', code: 'crdt/no-content', when: 'there is no CRDT data for the editor id' },
    {
      status: 'FAILED_PRECONDITION',
      when: 'the document is disabled, or `baseVersion` is unknown or too old',
    },
    {
      status: 'ABORTED',
      code: 'crdt/version-conflict',
      when: `the document is not at \`ifVersion\`; details.version is where it is; or ${documentBeingDeleted.when}`,
    },
  ],
  async handler(data, { caller, services, full }) {
    return { message: 'Content updated.', ...(await updateEditorContent(data, caller, services, full)) }
  },
})
