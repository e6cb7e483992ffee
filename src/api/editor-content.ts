import type * as Y from 'yjs'
import type { Caller } from '../access/credentials.ts'
import type { Change } from '../content/change.ts'
import { readContent } from '../content/read.ts'
import { type ContentTarget, checkContent, replaceContent } from '../content/replace.ts'
import { contentTypeNames } from '../content/types.ts'
import { ApiError, invalid } from '../errors.ts'
import type { DocumentAddress } from '../model/address.ts'
import type { Changed, Edit } from '../rooms/editing.ts'
import type { Room } from '../rooms/room.ts'
import type { From } from './schema.ts'
import type { Services } from './services.ts'

export const documentIds = {
  organizationId: { type: 'string', format: 'id' },
  documentId: { type: 'string', format: 'id' },
} as const

export const editorId = { type: 'string', format: 'id', description: 'Editor instance.' } as const

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
    data: {
      description:
        'The whole content: a string for `text` and `xml`, an object for `map`, an array for `array`.',
      examples: ['Hello'],
    },
    type: { type: 'string', enum: contentTypeNames },
    contentKey: { ...contentKey, default: 'content' },
    userId: { type: 'string', format: 'id', description: 'Who made the change; shown as `lastUpdatedBy`.' },
  },
} as const

/** Of an update alone: which state of the content it was made for. */
export const updateRequest = {
  ...contentRequest,
  properties: {
    ...contentRequest.properties,
    baseVersion: {
      type: 'string',
      description:
        'The version that `data` was made from: only what differs from it is changed, and what was typed since stays.',
    },
    ifVersion: {
      type: 'string',
      description: 'Change nothing (ABORTED) unless the document is at this version.',
    },
    upsert: { type: 'boolean', default: false, description: 'Make the document if it does not exist.' },
    dryRun: {
      type: 'boolean',
      default: false,
      description: 'Answer what would change, and change nothing; `version` is then the present one.',
    },
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

type UpdateRequest = From<typeof updateRequest>

export const editorAddress = (
  { tenant }: Caller,
  {
    organizationId,
    documentId,
    editorId,
  }: Pick<ContentRequest, 'organizationId' | 'documentId' | 'editorId'>,
): DocumentAddress => ({ ...tenant, organizationId, documentId, editorId })

export const noContent = (): ApiError => new ApiError('NOT_FOUND', 'there is no CRDT data for this editor id')

/** Makes an editor's content, unless there is some; resolves when that is durable and sent. */
export function createEditorContent(
  request: ContentRequest,
  caller: Caller,
  services: Services,
): Promise<Written> {
  return writeContent(request, caller, services, (room, edit, by) => {
    const create = (doc: Y.Doc): Change => {
      if (room.existence === 'live') throw new ContentExists()
      return edit(doc)
    }
    return settled(room, room.editing.change(by, create, { create: true }))
  })
}

/** Changes an editor's content as little as needed; resolves when that is durable and sent, or merely found out. */
export function updateEditorContent(
  request: UpdateRequest,
  caller: Caller,
  services: Services,
): Promise<Written> {
  const { baseVersion, ifVersion, upsert = false, dryRun = false } = request
  const options = { create: upsert, baseVersion, ifVersion }
  return writeContent(request, caller, services, (room, edit, by) =>
    dryRun ? room.editing.preview(edit, options) : room.editing.change(by, edit, options),
  )
}

type Written = From<typeof writtenResponse>
type Write = (room: Room, edit: Edit<Change>, by: string) => Promise<Changed<Change>>

async function writeContent(
  request: ContentRequest,
  caller: Caller,
  services: Services,
  write: Write,
): Promise<Written> {
  const { type, contentKey = 'content', data, userId = '' } = request
  const target = { type, contentKey, data }
  checkContent(target)
  const stopTimer = services.metrics.crdtUpdateDurationSeconds.startTimer({ type })
  return services.rooms.use(editorAddress(caller, request), async (room) => {
    const edit = (doc: Y.Doc): Change => {
      checkGrowth(room, doc, target, services.documentBytesMax)
      return replaceContent(doc, target)
    }
    const { result, version, bytes } = await write(room, edit, userId)
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
    if (error instanceof ContentExists) await room.editing.view(() => null)
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

const textBytes = (data: unknown): number =>
  Buffer.byteLength(typeof data === 'string' ? data : (JSON.stringify(data) ?? ''))
