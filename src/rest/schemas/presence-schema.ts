import type { TenantCaller } from '../../core/access/credentials/authenticator.ts'
import { json } from '../../core/base/schema.ts'
import type { DocumentScope } from '../../core/model/address.ts'
import { statusLengthMax } from '../../core/rooms/presence/document-presence.ts'
import { presenceDataBytesMax, presenceKinds } from '../../core/rooms/presence/rest-presence.ts'
import type { DocumentIds } from '../list-editors.ts'
import { keepsOthers, openMembers } from '../open-members.ts'
import type { Services } from '../services.ts'
import { editTarget } from './edit-target-schema.ts'
import { batchMax, contentKeySchema } from './resource-schema.ts'

/** Ends of a text at which a cursor can be. */
const cursorEnds = ['start', 'end'] as const

/** Request member for the users of an operation. */
export const presentUserIds = json.list(json.id(), { maxItems: batchMax })

export const presenceStatus = json.text('Any status, such as `online`, `away`, `offline`.', {
  maxLength: statusLengthMax,
})

/** Members of a user, in addition to `userId` and `status`. */
export const presenceDetails = {
  name: json.text('Display name.', { maxLength: 200 }),
  email: json.text('Only `presence/get` returns it.', { maxLength: 320 }),
  kind: json.choice(presenceKinds, '`agent`: the user is a program. Default: `user`.'),
  data: json.map(
    {},
    {
      description:
        `Any data about the presence, at most ${presenceDataBytesMax} bytes as JSON. Replaced as a whole. Clients receive ` +
        'it as `user.data` of the awareness state.',
    },
  ),
} as const

const { path: _path, ...textTargets } = editTarget.anyOf[1].properties

/** The place of a cursor in a request: a target as in `crdt/edit`, or the end of the content. */
const cursorTarget = json.object(
  {},
  {
    editorId: json.id('Editor that shows the cursor. Default: the only editor of the document.'),
    contentKey: contentKeySchema,
    ...textTargets,
    end: json.boolean('True: the end of the content.'),
    at: json.choice(cursorEnds, 'A caret at this end of the text. Default: the text is selected.'),
  },
  { description: 'Exactly one of `quote`, `heading`, `row`, `attribute`, `block`, `anchor`, `end`.' },
)

export const presenceInputs = json.list(
  json.object(
    { userId: json.id() },
    {
      status: presenceStatus,
      ...presenceDetails,
      color: json.text('Color of the caret as `#rrggbb`. Default: a color that depends on the user id.', {
        maxLength: 7,
      }),
      cursor: json.orNull(
        cursorTarget,
        'The cursor that editors draw while the user is not connected; null removes it. The server finds the place ' +
          'in the present content, and the cursor moves with its text.',
      ),
    },
    {
      ...openMembers('source', 'editorIds', 'lastSeen'),
      description: `${keepsOthers} They are replaced as a whole. Only \`presence/get\` returns them.`,
    },
  ),
  {
    maxItems: batchMax,
    examples: [[{ userId: 'ann', name: 'Ann', email: 'ann@example.com', status: 'away' }]],
  },
)

/**
 * Returns the schema of a result.
 * @param when text that completes the description "False when …"
 */
export const presenceSuccess = (when: string) => json.object({ success: json.boolean(`False when ${when}.`) })

export const alwaysSuccess = json.object({ success: json.boolean('Always true.') })

/** The error of a call that adds users who are not connected. */
export const tooManyPresent = {
  code: 'presence/too-many-users',
  when: 'too many users are not connected',
} as const

/** Errors of a call with cursors. */
export const cursorErrors = [
  {
    code: 'crdt/target-not-found',
    when: 'the place of a cursor is missing: `details.candidates` has up to five similar places',
  },
  {
    code: 'crdt/target-ambiguous',
    when: 'the place of a cursor is ambiguous: `details.candidates` has up to five places',
  },
  { code: 'crdt/root-not-found', when: 'the root of a cursor does not exist' },
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
