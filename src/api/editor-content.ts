import type * as Y from 'yjs'
import type { Caller } from '../access/credentials.ts'
import { readContent } from '../content/read.ts'
import { type ContentTarget, checkContent, replaceContent } from '../content/replace.ts'
import { ApiError, invalid } from '../errors.ts'
import type { DocumentAddress } from '../model/address.ts'
import type { Room } from '../rooms/room.ts'
import type { From } from './schema.ts'
import type { Services } from './services.ts'

export const documentIds = {
  organizationId: { type: 'string', format: 'id' },
  documentId: { type: 'string', format: 'id' },
} as const

export const editorId = { type: 'string', format: 'id', description: 'Editor instance.' } as const

export const contentTypes = ['text'] as const

export const contentKey = {
  type: 'string',
  minLength: 1,
  maxLength: 500,
  description: 'Name of the shared type in the Yjs document; `default` for rich-text editors.',
} as const

/** The whole content that an editor is to have. */
export const contentRequest = {
  type: 'object',
  required: ['organizationId', 'documentId', 'editorId', 'data', 'type'],
  properties: {
    ...documentIds,
    editorId,
    data: { description: 'The whole content: a string for `text`.', examples: ['Hello'] },
    type: { type: 'string', enum: contentTypes },
    contentKey: { ...contentKey, default: 'content' },
    userId: { type: 'string', format: 'id', description: 'Who made the change; shown as `lastUpdatedBy`.' },
  },
} as const

export const writtenResponse = {
  type: 'object',
  required: ['version', 'changed', 'bytes', 'insertions', 'deletions'],
  properties: {
    version: { type: 'string', description: 'Names the state after the call; opaque.' },
    changed: { type: 'boolean', description: 'False when the content was the same already.' },
    bytes: { type: 'integer', description: 'Size of the update that clients received.' },
    insertions: { type: 'integer', description: 'Inserted UTF-16 units.' },
    deletions: { type: 'integer', description: 'Deleted UTF-16 units and embeds.' },
  },
} as const

type ContentRequest = From<typeof contentRequest>

/** `add` makes an editor's content and refuses one that exists; `update` the other way round. */
export type WriteMode = 'add' | 'update'

export const editorAddress = (
  { tenant }: Caller,
  {
    organizationId,
    documentId,
    editorId,
  }: Pick<ContentRequest, 'organizationId' | 'documentId' | 'editorId'>,
): DocumentAddress => ({ ...tenant, organizationId, documentId, editorId })

export const noContent = (): ApiError => new ApiError('NOT_FOUND', 'there is no CRDT data for this editor id')

/** Writes content as the smallest sensible change of the live document; resolves when that is durable and sent. */
export async function writeContent(
  mode: WriteMode,
  request: ContentRequest,
  caller: Caller,
  services: Services,
): Promise<From<typeof writtenResponse>> {
  const { type, contentKey = 'content', data, userId = '' } = request
  const target = { type, contentKey, data }
  checkContent(target)
  const stopTimer = services.metrics.crdtUpdateDurationSeconds.startTimer({ type })
  return services.rooms.use(editorAddress(caller, request), async (room) => {
    const edit = (doc: Y.Doc) => {
      if (mode === 'add' && room.existence === 'live') throw new ContentExists()
      checkGrowth(room, doc, target, services.documentBytesMax)
      return replaceContent(doc, target)
    }
    const { result, version, bytes } = await settled(
      room,
      room.change(userId, edit, { create: mode === 'add' }),
    )
    stopTimer()
    return { version, ...result, bytes }
  })
}

class ContentExists extends ApiError {
  constructor() {
    super('ALREADY_EXISTS', 'this editor id has CRDT data: use /v2/crdt/update')
  }
}

/** What a refusal tells of the content is told only when that content is durable, like any answer. */
async function settled<T>(room: Room, change: Promise<T>): Promise<T> {
  try {
    return await change
  } catch (error) {
    if (error instanceof ContentExists) await room.view(() => null)
    throw error
  }
}

/** Of its limit, what a document may be above it and still be replaced by something that is not longer. */
const replaceableExcess = 0.25

/**
 * A replacement adds what it is longer than the content before: what is deleted takes next to no room. One that is not
 * longer is taken above the limit too, a little: else a full document could never be made smaller.
 */
function checkGrowth({ state }: Room, doc: Y.Doc, target: ContentTarget, bytesMax: number): void {
  const bytes = textBytes(target.data)
  if (state.hasRoomFor(bytes, bytesMax)) return
  const growthBytes = Math.max(0, bytes - textBytes(readContent(doc, target.contentKey).data))
  if (!state.hasRoomFor(growthBytes, growthBytes > 0 ? bytesMax : bytesMax * (1 + replaceableExcess)))
    throw invalid(
      `a document has at most ${bytesMax} bytes; this one would have ${state.sizeBytes + growthBytes}`,
    )
}

const textBytes = (data: unknown): number => (typeof data === 'string' ? Buffer.byteLength(data) : 0)
