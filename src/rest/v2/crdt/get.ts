import { ApiError } from '../../../core/base/errors.ts'
import { type FromSchema, json } from '../../../core/base/schema.ts'
import { isRootMissing } from '../../../core/content/roots.ts'
import type { AttachedSchema } from '../../../core/directory/schemas/schema-service.ts'
import type { DocumentAddress } from '../../../core/model/address.ts'
import {
  EncodedJson,
  encodedBytes,
  encodeJson,
  responseTooLarge,
  withRemedy,
} from '../../../core/model/json-pieces.ts'
import { readAttachedEditor } from '../../../core/rooms/editor-content.ts'
import { noContent } from '../../../core/rooms/edits/edit-conditions.ts'
import { RoomHistory } from '../../../core/rooms/history/room-history.ts'
import type { Room } from '../../../core/rooms/room/room.ts'
import { attributionDisabled, authorRun, toAuthorRunResponse } from '../../changes/change-schema.ts'
import { editorAddress } from '../../editor-content.ts'
import { listMainEditors } from '../../list-editors.ts'
import { defineAgentOperation } from '../../operation.ts'
import { responseExceeds } from '../../response-length.ts'
import {
  contentErrors,
  contentFormat,
  noSuchRoot,
  smallerFormats,
  stateEncoding,
} from '../../schemas/content-format.ts'
import { contentKeySchema, documentPlace } from '../../schemas/resource-schema.ts'
import type { Services } from '../../services.ts'
import { invalidAt } from '../../validator.ts'

/** Maximum number of parts with an author in one response. */
const runsMax = 50_000

/** Maximum number of editors in one response. */
export const editorsMax = 100

const request = json.object(documentPlace, {
  editorId: json.id('Id of the editor; default: all editors of the document, without branches.'),
  contentKey: contentKeySchema,
  format: contentFormat,
  encoding: stateEncoding,
  statistics: json.flag('True: also returns statistics of the Yjs structures of each editor.'),
  attribution: json.flag('True: also returns the authors of the content. Requires `editorId`.'),
})

const entry = json.object(
  {
    id: json.text('Editor id.'),
    data: {},
    type: json.text(),
    contentKey: json.text(),
    version: json.text('Names this state; opaque.'),
    stateVector: json.bytes('Yjs state vector (V1), base64.'),
    lastUpdate: json.time(),
    lastUpdatedBy: json.text("User id; '' if the user is not known."),
    sizeBytes: json.integer('Maximum size of the document as encoded by Yjs.'),
  },
  {
    schema: json.text('Name of the attached schema; absent if there is none.'),
    schemaVersion: json.integer('Version of this schema for which the content was written.'),
    attribution: json.list(authorRun, {
      description: 'Adjacent content of one author, in the order of the document; only with `attribution`.',
    }),
    attributionTruncated: json.boolean(
      `True if parts after the first ${runsMax.toLocaleString('en')} are left out; only with \`attribution\`.`,
    ),
    statistics: json.object(
      {
        structs: json.integer(
          'Structs of Yjs in the encoded state: each is a run that was inserted in one go, or deleted in one piece.',
        ),
        tombstones: json.integer(
          'Deleted content that remains as tombstones: characters (UTF-16 code units), and one for each value, ' +
            'shared type, embed and formatting mark.',
        ),
        clients: json.integer(
          'Client ids that have ever inserted content; each session of an editor has its own id.',
        ),
      },
      {},
      { description: 'Statistics of the whole editor, for any `contentKey`; only with `statistics`.' },
    ),
  },
)

type Request = FromSchema<typeof request>
/** An entry whose large members are already encoded. */
type Entry = Omit<FromSchema<typeof entry>, 'data' | 'stateVector' | 'attribution'> & {
  readonly attribution?: EncodedJson
  readonly data: EncodedJson
  readonly stateVector: EncodedJson
}

export const getContent = defineAgentOperation({
  path: '/v2/crdt/get',
  agents: { role: 'viewer' },
  effect: 'reads',
  runsAt: 'owner',
  audited: 'read',
  summary: 'Read the content of editors',
  description:
    'The content is durable. An update with the same content changes nothing. Without `editorId`, the response skips ' +
    'editors that do not have the requested root. The content in one response is at most ' +
    '`maxResponseBytes` long; one document with `format` `update` is as long as the document.',
  request,
  response: json.list(entry),
  errors: [
    ...contentErrors,
    noSuchRoot,
    { code: 'crdt/too-many-editors', when: 'a document has too many editors for one answer' },
    attributionDisabled,
    responseExceeds,
  ],
  async handler(data, { caller, services }) {
    if (data.attribution === true) {
      if (data.editorId === undefined)
        throw invalidAt({ path: '/data/editorId', message: 'is required with attribution' })
      await services.attribution.require(caller.tenant.workspaceId)
    }
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const { documents, schemas } = services
    if (await documents.isGoing(scope, data.documentId)) throw noContent()
    const attachments = await schemas.attachedIn(scope, data.documentId)
    if (data.editorId !== undefined)
      await services.loader.ready(editorAddress(caller, { ...data, editorId: data.editorId }))
    const ids = data.editorId === undefined ? await idsOfAll(data, services, caller) : [data.editorId]
    const entries: Entry[] = []
    const { maxResponseBytes } = services.config
    const remedy = ids.length > 1 ? 'request one editorId at a time' : smallerFormats(data.format)
    let bytesLeft = maxResponseBytes
    let missing: ApiError | null = null
    for (const editorId of ids) {
      const address = editorAddress(caller, { ...data, editorId })
      const read = await readEditor(
        address,
        data,
        data.editorId === undefined ? (attachments.get(editorId) ?? null) : await schemas.attachedTo(address),
        services,
        bytesLeft,
      ).catch((error: unknown) => {
        if (isRootMissing(error)) missing = error
        else throw withRemedy(error, maxResponseBytes, remedy)
        return null
      })
      if (read === null) continue
      bytesLeft -= encodedBytes([read.data, read.stateVector, read.attribution])
      if (bytesLeft < 0 && ids.length > 1) throw responseTooLarge(maxResponseBytes, remedy)
      entries.push(read)
    }
    if (entries.length === 0) {
      if (missing === null) await documents.require(scope, data.documentId)
      throw missing ?? noContent()
    }
    return { message: 'Content found.', data: entries }
  },
})

async function idsOfAll(
  data: Request,
  services: Services,
  caller: Parameters<typeof listMainEditors>[1],
): Promise<readonly string[]> {
  const { organizationId, documentId } = data
  const ids = await listMainEditors(services, caller, { organizationId, documentId }, editorsMax + 1)
  if (ids.length > editorsMax)
    throw new ApiError(
      'crdt/too-many-editors',
      `the document has more than ${editorsMax} editors: name an editorId`,
    )
  return ids
}

/** Reads the content of an editor. Returns null if the editor has no content. */
async function readEditor(
  address: DocumentAddress,
  request: Request,
  attached: AttachedSchema | null,
  { rooms }: Services,
  bytesMax: number,
): Promise<Entry | null> {
  const read = await readAttachedEditor(rooms, address, attached, request, bytesMax)
  if (read === null) return null
  const { result, version, vector, changed, sizeBytes } = read
  const authors = (room: Room) => readAuthors(room, version, result.contentKey, bytesMax)
  return {
    id: address.editorId,
    ...result,
    ...(attached !== null && { schema: attached.schema, schemaVersion: attached.version }),
    version,
    stateVector: new EncodedJson('base64', [vector]),
    lastUpdate: new Date(changed.at).toISOString(),
    lastUpdatedBy: changed.by,
    sizeBytes,
    ...(request.attribution === true && (await rooms.use(address, authors))),
  }
}

async function readAuthors(
  room: Room,
  version: string,
  contentKey: string,
  bytesMax: number,
): Promise<Pick<Entry, 'attribution' | 'attributionTruncated'>> {
  const { runs, truncated } = await new RoomHistory(room).authors(version, contentKey, runsMax)
  return { attribution: encodeJson(runs.map(toAuthorRunResponse), bytesMax), attributionTruncated: truncated }
}
