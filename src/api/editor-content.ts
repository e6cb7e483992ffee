import type { Caller } from '../access/credentials.ts'
import { prepareContent } from '../content/prepared.ts'
import { contentTypeNames } from '../content/types.ts'
import type { DocumentAddress } from '../model/address.ts'
import type { ReplaceOptions } from '../rooms/edited-room.ts'
import { inlineSizeMax } from '../rooms/replacing.ts'
import type { From } from './schema.ts'
import type { Services } from './services.ts'

export const documentIds = {
  organizationId: { type: 'string', format: 'id' },
  documentId: { type: 'string', format: 'id' },
} as const

/** The error of operations on a document that is being deleted. */
export const beingDeleted = {
  status: 'ABORTED',
  when: 'the document is being deleted, itself or with its folder or organization',
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
        'The whole content: a string for `text` and `xml`, an object for `map`, an array for `array`, ' +
        'a Quill delta for `delta`, `{ attributes, delta }` for `xmltext` (Lexical, Slate).',
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

/** Makes an editor's content, unless there is some; resolves when that is durable and sent. */
export const createEditorContent = (
  request: ContentRequest,
  caller: Caller,
  services: Services,
): Promise<Written> => writeContent(request, { expects: 'nothing' }, caller, services)

/** Changes an editor's content as little as needed; resolves when that is durable and sent, or merely found out. */
export function updateEditorContent(
  request: UpdateRequest,
  caller: Caller,
  services: Services,
): Promise<Written> {
  const { baseVersion, ifVersion, upsert, dryRun } = request
  const expects = upsert === true ? 'either' : 'content'
  return writeContent(request, { expects, baseVersion, ifVersion, dryRun }, caller, services)
}

type Written = From<typeof writtenResponse>

async function writeContent(
  request: ContentRequest,
  options: ReplaceOptions,
  caller: Caller,
  { rooms, documents, metrics }: Services,
): Promise<Written> {
  const { type, contentKey = 'content', data, userId = '' } = request
  const content = prepareContent({ type, contentKey, data }, inlineSizeMax)
  const stopTimer = metrics.crdtUpdateDurationSeconds.startTimer({ type })
  const address = editorAddress(caller, request)
  const making = (): Promise<void> => documents.ensure(address, address.documentId)
  return rooms.use(address, async (room) => {
    await documents.requireEnabled(address, address.documentId)
    const { result, version, bytes } = await room.replacing.replace(userId, content, { ...options, making })
    stopTimer()
    return { version, ...result, bytes }
  })
}
