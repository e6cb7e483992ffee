import { ApiError } from '../../../errors.ts'
import type { DocumentAddress } from '../../../model/address.ts'
import { noContent } from '../../../rooms/edited-room.ts'
import { contentKey, documentIds, editorAddress, editorId } from '../../editor-content.ts'
import { contentFormat } from '../../editor-reading.ts'
import { listEditors } from '../../editors.ts'
import { operation } from '../../operation.ts'
import type { From } from '../../schema.ts'
import type { Services } from '../../services.ts'

/** Editors in one answer. */
const editorsMax = 100
/** Encoded size of all documents in one answer. */
const answerBytesMax = 67_108_864

const request = {
  type: 'object',
  required: ['organizationId', 'documentId'],
  properties: {
    ...documentIds,
    editorId: { ...editorId, description: 'Editor instance; without it all of the document.' },
    contentKey: {
      ...contentKey,
      description: 'Name of the shared type; without it `content`, or the only one there is.',
    },
    format: contentFormat,
    statistics: {
      type: 'boolean',
      default: false,
      description: 'Answer also how each document is made up.',
    },
  },
} as const

const entry = {
  type: 'object',
  required: [
    'id',
    'data',
    'type',
    'contentKey',
    'version',
    'stateVector',
    'lastUpdate',
    'lastUpdatedBy',
    'sizeBytes',
  ],
  properties: {
    id: { type: 'string', description: 'Editor id.' },
    data: {},
    type: { type: 'string' },
    contentKey: { type: 'string' },
    version: { type: 'string', description: 'Names this state; opaque.' },
    stateVector: { type: 'string', format: 'byte', description: 'Yjs state vector (V1), base64.' },
    lastUpdate: { type: 'string', format: 'date-time' },
    lastUpdatedBy: { type: 'string', description: "User id; '' when nobody is known." },
    sizeBytes: { type: 'integer', description: 'Size of the document as encoded by Yjs, at most.' },
    statistics: {
      type: 'object',
      required: ['structs', 'tombstones', 'clients'],
      description: 'Of all that the document holds, whatever `contentKey` is; only with `statistics`.',
      properties: {
        structs: {
          type: 'integer',
          description:
            'Structs of Yjs in the encoded state: each is a run that was inserted in one go, or deleted in one piece.',
        },
        tombstones: {
          type: 'integer',
          description:
            'What was deleted and is kept as a mark: characters (UTF-16 code units), of everything else (values, ' +
            'shared types, embeds, formatting marks) one each.',
        },
        clients: {
          type: 'integer',
          description:
            'Client ids that have ever inserted something: each session of an editor has one of its own.',
        },
      },
    },
  },
} as const

type Request = From<typeof request>
type Entry = From<typeof entry>

export const getContent = operation({
  path: '/v2/crdt/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read the content of editors',
  description: 'What is read is durable, and fed to update changes nothing.',
  request,
  response: { type: 'array', items: entry },
  errors: [
    { status: 'NOT_FOUND', when: 'there is no CRDT data for the editor id, or for any of the document' },
    {
      status: 'FAILED_PRECONDITION',
      when: 'a document has too many editors, or too large ones, for one answer',
    },
  ],
  async handler(data, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    if (await services.documents.isGoing(scope, data.documentId)) throw noContent()
    const ids = data.editorId === undefined ? await idsOfAll(data, services, caller) : [data.editorId]
    const entries: Entry[] = []
    let sizeBytes = 0
    for (const editorId of ids) {
      const read = await readEditor(editorAddress(caller, { ...data, editorId }), data, services)
      if (read === null) continue
      sizeBytes += read.sizeBytes
      if (sizeBytes > answerBytesMax && ids.length > 1) throw tooMuch(`${answerBytesMax} bytes`)
      entries.push(read)
    }
    if (entries.length === 0) throw noContent()
    return { message: 'Content found.', data: entries }
  },
})

async function idsOfAll(
  data: Request,
  { log }: Services,
  caller: Parameters<typeof editorAddress>[0],
): Promise<readonly string[]> {
  const ids = await listEditors(log, caller, data, { limit: editorsMax + 1 })
  if (ids.length > editorsMax) throw tooMuch(`${editorsMax} editors`)
  return ids
}

const tooMuch = (what: string): ApiError =>
  new ApiError('FAILED_PRECONDITION', `the document has more than ${what}: name an editorId`)

/** Null when there is no content. */
async function readEditor(
  address: DocumentAddress,
  request: Request,
  { rooms }: Services,
): Promise<Entry | null> {
  return rooms.use(address, async (room) => {
    const read = await room.editing.read(request)
    if (read === null) return null
    const { result, version, vector, changed, sizeBytes } = read
    return {
      id: address.editorId,
      ...result,
      version,
      stateVector: Buffer.from(vector).toString('base64'),
      lastUpdate: new Date(changed.at).toISOString(),
      lastUpdatedBy: changed.by,
      sizeBytes,
    }
  })
}
