import { eventually } from '../clients/clients.ts'
import { dataOf, type TestServer } from '../servers/server.ts'

/** Waits until the server has recorded an edit of the editor, which it does some time after the edit. */
export async function editRecorded(
  server: TestServer,
  { organizationId, documentId, editorId }: Record<'organizationId' | 'documentId' | 'editorId', string>,
): Promise<void> {
  const query = { organizationId, documentId, targetEntityId: editorId, actionTypes: ['crdt.editor_edit'] }
  await eventually(async () => {
    const activities = dataOf(await server.post('/v2/activities/get', query)) as readonly unknown[]
    return activities.length > 0
  })
}
