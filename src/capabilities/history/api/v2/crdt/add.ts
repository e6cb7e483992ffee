import {
  contentRequest,
  createEditorContent,
  schemaErrors,
  withEncodedData,
  writeErrors,
  writtenResponse,
} from '../../../../../rest/editor-content.ts'
import { defineOperation } from '../../../../../rest/operation.ts'

export const addContent = defineOperation({
  path: '/v2/crdt/add',
  auth: 'key',
  effect: 'once',
  runsAt: 'owner',
  audited: 'change',
  grows: 'editors',
  warns: true,
  creates: true,
  summary: 'Create the content of an editor',
  description: 'If several calls create the same editor at once, exactly one succeeds.',
  request: contentRequest,
  response: writtenResponse,
  errors: [{ code: 'crdt/content-exists', when: 'the editor has data' }, ...schemaErrors, ...writeErrors],
  async handler(data, { caller, services, text }) {
    return {
      message: 'Content added.',
      ...(await createEditorContent(withEncodedData(data, text), caller, services)),
    }
  },
})
