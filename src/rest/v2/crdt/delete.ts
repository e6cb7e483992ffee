import type { KeyCaller } from '../../../core/access/credentials/authenticator.ts'
import { nullFor } from '../../../core/base/errors.ts'
import { json } from '../../../core/base/schema.ts'
import { addressKey, type DocumentAddress } from '../../../core/model/address.ts'
import { CorruptRecordError, type DocumentLog } from '../../../core/store/engine.ts'
import { documentBeingDeleted, editorAddress } from '../../editor-content.ts'
import { type DocumentIds, editorPages } from '../../list-editors.ts'
import { defineOperation } from '../../operation.ts'
import { documentPlace, editorId } from '../../schemas/resource-schema.ts'
import type { Services } from '../../services.ts'

/** Maximum number of editors in one read. */
const pageSize = 100

const request = json.object(documentPlace, {
  editorIds: json.list(editorId, {
    maxItems: 500,
    description: 'Ids of the editors; default: all editors of the document.',
  }),
  userId: json.id('User who deletes the content; default: `api`.'),
})

const response = json.object({ success: json.boolean('False if there was nothing to delete.') })

export const deleteContent = defineOperation({
  path: '/v2/crdt/delete',
  auth: 'key',
  effect: 'once',
  runsAt: 'owner',
  audited: 'admin',
  summary: 'Delete the content of editors',
  description:
    'Also deletes their versions and their branches. Connections to them are closed permanently, and a client that still has the content ' +
    'cannot restore it. Each editor causes one activity `crdt.editor_delete` and one event `crdt.delete_data`.',
  request,
  response,
  errors: [documentBeingDeleted],
  async handler({ editorIds, userId = '', ...document }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: document.organizationId }
    await services.documents.requireThere(scope, document.documentId)
    const deleted =
      editorIds === undefined
        ? await deleteAll(document, userId, caller, services)
        : await deleteEditors(editorIds, { ...document, userId }, caller, services)
    return { message: `${deleted} editors deleted.`, data: { success: deleted > 0 } }
  },
})

async function deleteAll(
  document: DocumentIds,
  userId: string,
  caller: KeyCaller,
  services: Services,
): Promise<number> {
  let deleted = 0
  for await (const page of editorPages(services.engine.log, caller, document, pageSize))
    deleted += await deleteEditors(page, { ...document, userId }, caller, services)
  return deleted
}

/** Deletes the editors that have content, and returns their number. */
async function deleteEditors(
  editorIds: readonly string[],
  { userId, ...document }: DocumentIds & { readonly userId: string },
  caller: KeyCaller,
  { engine, rooms, versions, branches, edits }: Services,
): Promise<number> {
  const addresses = [...new Set(editorIds)].map((editorId) =>
    editorAddress(caller, { ...document, editorId }),
  )
  let deleted = 0
  for (const address of addresses) {
    const epoch = await epochOf(engine.log, address)
    if (epoch === undefined) continue
    const deletion = await edits.announceDeletion(address, userId, epoch)
    // The second call of `removeEditor` removes versions that were created between the first call and the
    // destruction of the content.
    await branches.deleteAll(address)
    await versions.removeEditor(address)
    await rooms.destroy(address)
    await versions.removeEditor(address)
    await edits.recordDeletion(deletion)
    deleted += 1
  }
  return deleted
}

/**
 * Returns the epoch of the content of an editor; null if the content is damaged, so that it can be deleted; undefined
 * if there is none.
 */
const epochOf = (log: DocumentLog, address: DocumentAddress): Promise<number | null | undefined> =>
  log.heads([addressKey(address)]).then(([head]) => head?.epoch, nullFor(CorruptRecordError))
