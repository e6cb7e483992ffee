import type { Caller } from '../../../access/credentials.ts'
import { CorruptRecord } from '../../../engine/engine.ts'
import { addressKey, type DocumentAddress } from '../../../model/address.ts'
import { beingDeleted, documentIds, editorAddress, editorId } from '../../editor-content.ts'
import { type DocumentIds, listEditors } from '../../editors.ts'
import { operation } from '../../operation.ts'
import type { Services } from '../../services.ts'

/** Editors that are looked up at a time. */
const pageSize = 100

const request = {
  type: 'object',
  required: ['organizationId', 'documentId'],
  properties: {
    ...documentIds,
    editorIds: {
      type: 'array',
      items: editorId,
      maxItems: 500,
      description: 'Editor instances; without it all of the document.',
    },
  },
} as const

const response = {
  type: 'object',
  required: ['success'],
  properties: { success: { type: 'boolean', description: 'False when there was nothing to delete.' } },
} as const

export const deleteContent = operation({
  path: '/v2/crdt/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete the content of editors',
  description:
    'Their versions go with it. Connections to them are closed for good; a client that still has the content cannot ' +
    'bring it back.',
  request,
  response,
  errors: [beingDeleted],
  async handler({ editorIds, ...document }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: document.organizationId }
    await services.documents.requireThere(scope, document.documentId)
    const deleted =
      editorIds === undefined
        ? await deleteAll(document, caller, services)
        : await deleteEditors(editorIds, document, caller, services)
    return { message: `${deleted} of the editors deleted.`, data: { success: deleted > 0 } }
  },
})

async function deleteAll(document: DocumentIds, caller: Caller, services: Services): Promise<number> {
  let [deleted, after]: [number, string | undefined] = [0, undefined]
  for (;;) {
    const from = after === undefined ? {} : { after }
    const page = await listEditors(services.log, caller, document, { limit: pageSize, ...from })
    if (page.length === 0) return deleted
    deleted += await deleteEditors(page, document, caller, services)
    after = page.at(-1)
  }
}

/** Deletes those that have content, and returns their number. */
async function deleteEditors(
  editorIds: readonly string[],
  document: DocumentIds,
  caller: Caller,
  { log, rooms, versions }: Services,
): Promise<number> {
  const addresses = [...new Set(editorIds)].map((editorId) =>
    editorAddress(caller, { ...document, editorId }),
  )
  const isThere = await Promise.all(addresses.map((address) => hasContent(log, address)))
  const live = addresses.filter((_, index) => isThere[index])
  for (const address of live) {
    // What the second call finds was made during the first two.
    await versions.removeEditor(address)
    await rooms.destroy(address)
    await versions.removeEditor(address)
  }
  return live.length
}

/** What is damaged can be deleted, too. */
async function hasContent(log: Services['log'], address: DocumentAddress): Promise<boolean> {
  try {
    const [head] = await log.heads([addressKey(address)])
    return head !== null
  } catch (error) {
    if (error instanceof CorruptRecord) return true
    throw error
  }
}
