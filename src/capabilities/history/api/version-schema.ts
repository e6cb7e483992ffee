import type { TenantCaller } from '../../../core/access/credentials/authenticator.ts'
import { type FromSchema, json } from '../../../core/base/schema.ts'
import { addressKey, type DocumentAddress } from '../../../core/model/address.ts'
import { parseVersion } from '../../../core/model/version.ts'
import { noContent } from '../../../core/rooms/edits/edit-conditions.ts'
import type { HistoryPoint, HistoryRange } from '../../../core/rooms/history/history-updates.ts'
import { editorAddress } from '../../../rest/editor-content.ts'
import { documentPlace, editorId, metadata } from '../../../rest/schemas/resource-schema.ts'
import type { Services } from '../../../rest/services.ts'
import { invalidAt } from '../../../rest/validator.ts'
import { versionLimits } from '../limits.ts'
import type { VersionRecord } from '../version-keys.ts'

/**
 * Reads the two versions of a request. A text that has the form of a version is a version; any other text is the id of
 * a saved version.
 * @throws ApiError NOT_FOUND if a saved version does not exist; INVALID_ARGUMENT if `from` is later than `to`
 */
export async function readRange(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  address: DocumentAddress,
  { versions }: Pick<Services, 'versions'>,
): Promise<HistoryRange> {
  const point = async (text: string): Promise<HistoryPoint> => {
    const version = parseVersion(text)
    if (version !== null) return { version: text, state: null }
    const { record, bytes } = await versions.read(address, text)
    return { version: record.version, state: bytes }
  }
  const [earlier, later] = await Promise.all([
    from === undefined ? null : point(from),
    to === undefined ? null : point(to),
  ])
  requireOrder(earlier, later)
  return { from: earlier, to: later }
}

/** @throws ApiError INVALID_ARGUMENT if the earlier version is the later one */
function requireOrder(from: HistoryPoint | null, to: HistoryPoint | null): void {
  const start = from === null ? null : parseVersion(from.version)
  const end = to === null ? null : parseVersion(to.version)
  if (start !== null && end?.epoch === start.epoch && end.seq < start.seq)
    throw invalidAt({ path: '/data/from', message: 'must not be later than `to`' })
}

/** Request member that names the content to copy. */
export const copySource = json.object(
  { documentId: documentPlace.documentId },
  {
    organizationId: json.id('Default: the organization of the copy.'),
    editorId: json.id('Editor to copy. Default: all editors of the document.'),
    versionId: json.id('Saved version of the editor. Default: its present content.'),
  },
)

/** Request members for the editor whose versions are read or changed. */
export const versionedEditor = { ...documentPlace, editorId } as const

export const versionLabel = json.text("Name of the version; '' without a name.", {
  maxLength: versionLimits.labelCharacters,
  examples: ['Sent to the customer'],
})

export const versionId = json.id('Id of the version.', {
  examples: ['1767225600000-1b671a64-40d5-491e-99b0-da01ff1f3341'],
})

export const versionRecord = json.object({
  versionId: json.text(versionId.description, { examples: versionId.examples }),
  kind: json.choice(
    ['manual', 'automatic'],
    '`automatic`: created in the background, or from the content before a restoration.',
  ),
  label: json.text(versionLabel.description, { examples: versionLabel.examples }),
  metadata: { ...metadata, examples: [{ ticket: 'A-17' }] },
  createdAt: { type: 'string', format: 'date-time', examples: ['2026-01-01T00:00:00.000Z'] },
  createdBy: json.text("User id; '' if the user is not known.", { examples: ['ann'] }),
  sizeBytes: json.integer('Size of the document as encoded by Yjs.', { examples: [1024] }),
  version: json.text('Names this state, as `/v2/crdt/get` does; opaque.'),
  authors: json.list(json.object({ userId: json.text() }, { name: json.text('Absent if not known.') }), {
    description:
      'Users who edited after the previous version, in the order of their first edit; ' +
      `at most ${versionLimits.authors}, without unknown users.`,
  }),
})

export const noSuchVersion = { code: 'version/not-found', when: 'the editor has no such version' } as const

export const toVersionResponse = (record: VersionRecord): FromSchema<typeof versionRecord> => ({
  versionId: record.versionId,
  kind: record.kind,
  label: record.label,
  metadata: record.metadata,
  createdAt: new Date(record.createdAt).toISOString(),
  createdBy: record.createdBy,
  sizeBytes: record.sizeBytes,
  version: record.version,
  authors: record.authors.map(({ userId, name }) => ({ userId, ...(name !== undefined && { name }) })),
})

/**
 * Returns the address of a call's editor.
 * @throws ApiError NOT_FOUND if the editor has no content
 */
export async function versionedAddress(
  ids: { readonly organizationId: string; readonly documentId: string; readonly editorId: string },
  caller: Pick<TenantCaller, 'tenant'>,
  { documents, engine }: Services,
): Promise<DocumentAddress> {
  const address = editorAddress(caller, ids)
  const [head = null] = await engine.log.heads([addressKey(address)])
  if (head === null || (await documents.isGoing(address, address.documentId))) {
    await documents.require(address, address.documentId)
    throw noContent()
  }
  return address
}
