import { contentRequest, writeContent, writtenResponse } from '../../editor-content.ts'
import { operation } from '../../operation.ts'

export const updateContent = operation({
  path: '/v2/crdt/update',
  auth: 'key',
  summary: 'Replace the content of an editor',
  description:
    'Changes the live document with as few operations as make it equal to `data`, so that what is kept keeps its ' +
    'cursors and formatting. Connected clients see the change at once. The same content again changes nothing.',
  request: contentRequest,
  response: writtenResponse,
  errors: [{ status: 'NOT_FOUND', when: 'there is no CRDT data for the editor id' }],
  async handler(data, { caller, services }) {
    return { message: 'Content updated.', data: await writeContent('update', data, caller, services) }
  },
})
