import type { TenantCaller } from '../../core/access/credentials/authenticator.ts'
import type { DocumentScope } from '../../core/model/address.ts'
import { statusLengthMax } from '../../core/rooms/presence/document-presence.ts'
import { presenceDataBytesMax, presenceKinds } from '../../core/rooms/presence/rest-presence.ts'
import type { DocumentIds } from '../list-editors.ts'
import { keepsOthers, openMembers } from '../open-members.ts'
import type { Services } from '../services.ts'
import { editTarget } from './edit-target-schema.ts'
import { batchMax, contentKeySchema, documentId, organizationId } from './resource-schema.ts'

export const presenceDocument = { organizationId, documentId } as const

/** Ends of a text at which a cursor can be. */
const cursorEnds = ['start', 'end'] as const

/** Request member for the users of an operation. */
export const presentUserIds = {
  type: 'array',
  maxItems: batchMax,
  items: { type: 'string', format: 'id' },
} as const

export const presenceStatus = {
  type: 'string',
  maxLength: statusLengthMax,
  description: 'Any status, such as `online`, `away`, `offline`.',
} as const

export const describedPresence = {
  userId: { type: 'string', format: 'id' },
  name: { type: 'string', maxLength: 200, description: 'Display name.' },
  email: { type: 'string', maxLength: 320, description: 'Only `presence/get` returns it.' },
  status: presenceStatus,
} as const

/** Members of a user, in addition to `describedPresence`. */
export const presenceDetails = {
  kind: {
    type: 'string',
    enum: presenceKinds,
    description: '`agent`: the user is a program. Default: `user`.',
  },
  data: {
    type: 'object',
    additionalProperties: {},
    description:
      `Any data about the presence, at most ${presenceDataBytesMax} bytes as JSON. Replaced as a whole. Clients receive ` +
      'it as `user.data` of the awareness state.',
  },
} as const

const { path: _path, ...textTargets } = editTarget.anyOf[1].properties

/** The place of a cursor in a request: a target as in `crdt/edit`, or the end of the content. */
const cursorTarget = {
  type: 'object',
  description: 'Exactly one of `quote`, `heading`, `row`, `attribute`, `block`, `anchor`, `end`.',
  properties: {
    editorId: {
      type: 'string',
      format: 'id',
      description: 'Editor that shows the cursor. Default: the only editor of the document.',
    },
    contentKey: contentKeySchema,
    ...textTargets,
    end: { type: 'boolean', description: 'True: the end of the content.' },
    at: {
      type: 'string',
      enum: cursorEnds,
      description: 'A caret at this end of the text. Default: the text is selected.',
    },
  },
} as const

export const presenceInputs = {
  type: 'array',
  maxItems: batchMax,
  items: {
    type: 'object',
    required: ['userId'],
    properties: {
      ...describedPresence,
      ...presenceDetails,
      color: {
        type: 'string',
        maxLength: 7,
        description: 'Color of the caret as `#rrggbb`. Default: a color that depends on the user id.',
      },
      cursor: {
        anyOf: [cursorTarget, { type: 'null' }],
        description:
          'The cursor that editors draw while the user is not connected; null removes it. The server finds the place ' +
          'in the present content, and the cursor moves with its text.',
      },
    },
    ...openMembers('source', 'editorIds', 'lastSeen'),
    description: `${keepsOthers} They are replaced as a whole. Only \`presence/get\` returns them.`,
  },
  examples: [[{ userId: 'ann', name: 'Ann', email: 'ann@example.com', status: 'away' }]],
} as const

/**
 * Returns the schema of a result.
 * @param when text that completes the description "False when …"
 */
export const presenceSuccess = <const When extends string>(when: When) =>
  ({
    type: 'object',
    required: ['success'],
    properties: { success: { type: 'boolean', description: `False when ${when}.` } },
  }) as const

export const alwaysSuccess = {
  type: 'object',
  required: ['success'],
  properties: { success: { type: 'boolean', description: 'Always true.' } },
} as const

/** The error of a call that adds users who are not connected. */
export const tooManyPresent = {
  status: 'FAILED_PRECONDITION',
  code: 'presence/too-many-users',
  when: 'too many users are not connected',
} as const

/** Errors of a call with cursors. */
export const cursorErrors = [
  {
    status: 'FAILED_PRECONDITION',
    code: 'crdt/target-not-found',
    when: 'the place of a cursor is missing: `details.candidates` has up to five similar places',
  },
  {
    status: 'FAILED_PRECONDITION',
    code: 'crdt/target-ambiguous',
    when: 'the place of a cursor is ambiguous: `details.candidates` has up to five places',
  },
  { status: 'NOT_FOUND', code: 'crdt/root-not-found', when: 'the root of a cursor does not exist' },
] as const

/**
 * Returns the document of a call.
 * @throws ApiError NOT_FOUND if the document does not exist
 */
export async function presenceScope(
  ids: DocumentIds,
  caller: TenantCaller,
  { documents }: Services,
): Promise<DocumentScope> {
  const scope = { ...caller.tenant, organizationId: ids.organizationId }
  await documents.require(scope, ids.documentId)
  return { ...scope, documentId: ids.documentId }
}
