import { type FromSchema, json } from '../../../core/base/schema.ts'
import type { PresenceEntry } from '../../../core/rooms/presence/presence-entry.ts'
import { anchorLimits, anchorPlace, anchorPlaces } from '../../anchor-places.ts'
import type { DocumentIds } from '../../list-editors.ts'
import { defineOperation, type TenantContext } from '../../operation.ts'
import { checkLength, responseExceeds } from '../../response-length.ts'
import {
  presenceDetails,
  presenceScope,
  presenceStatus,
  presentUserIds,
} from '../../schemas/presence-schema.ts'
import { batchMax, documentErrors, documentPlace } from '../../schemas/resource-schema.ts'

const cursor = json.object(
  {
    editorId: json.text(),
    contentKey: json.text(),
    position: json.text('Yjs relative position, encoded and base64.'),
    positionEnd: json.text('The end of the selection, where the caret is.'),
  },
  {
    place: json.orNull(
      anchorPlace,
      'The selected text; null: the text was deleted. A caret has an empty `quote`. Absent: ' +
        `the content is larger than ${anchorLimits.anchorDocumentBytes} bytes or cannot be read now. A response has the places in ` +
        `the first ${anchorLimits.anchorEditors} editors.`,
    ),
  },
  { description: 'The cursor of a user whom a backend added; absent if there is none.' },
)

const { data, ...details } = presenceDetails

const presentUsers = json.list(
  json.object(
    {
      userId: json.id(),
      ...details,
      status: json.text('Status from REST, else from the client, else `online`.'),
      source: json.choice(
        ['socket', 'rest'],
        '`socket`: the user is connected; `rest`: only a backend added the user.',
      ),
      editorIds: json.list(json.text(), { description: 'The editors to which the user is connected.' }),
      lastSeen: json.integer(
        'Epoch milliseconds: the last sign of life of a connection, or call about the user.',
        { examples: [1_767_225_600_000] },
      ),
    },
    { data, cursor },
    { additionalProperties: {} },
  ),
)

export const getPresence = defineOperation({
  path: '/v2/presence/get',
  auth: 'key',
  effect: 'reads',
  runsAt: 'owner',
  audited: 'read',
  summary: 'List users on a document',
  description: 'Lists users who are connected to one of its editors, or whom a backend added, ordered by id.',
  request: json.object(documentPlace, {
    userIds: { ...presentUserIds, description: 'Only these users.' },
    statuses: json.list(presenceStatus, {
      maxItems: batchMax,
      description: 'Only users with one of these statuses.',
    }),
  }),
  response: presentUsers,
  errors: [...documentErrors, responseExceeds],
  async handler({ userIds, statuses, ...document }, context) {
    const { caller, services } = context
    const scope = await presenceScope(document, caller, services)
    const all = services.rooms.presence.use(scope, (presence) => presence.entries())
    const wanted = filterOf(userIds, statuses)
    const sorted = all.filter(wanted).toSorted((a, b) => (a.userId < b.userId ? -1 : 1))
    const found = await withPlaces(context, document, sorted)
    checkLength(found, services.config.maxResponseBytes, 'request fewer users: name them in userIds')
    return { message: `${found.length} users are present.`, data: found }
  },
})

/** Returns the entries with the places of their cursors. */
async function withPlaces(
  context: TenantContext,
  document: DocumentIds,
  entries: readonly PresenceEntry[],
): Promise<readonly FromSchema<typeof presentUsers>[number][]> {
  const cursors = entries.flatMap(({ cursor }) => cursor ?? [])
  const places = await anchorPlaces(context, document, cursors)
  return entries.map(({ cursor, others, ...known }) => {
    const entry = { ...others, ...known }
    if (cursor === undefined) return entry
    const place = places.get(cursor)
    return { ...entry, cursor: { ...cursor, ...(place !== undefined && { place }) } }
  })
}

/** Returns a function that filters entries by user and status. A list that is absent does not filter. */
function filterOf(
  userIds: readonly string[] | undefined,
  statuses: readonly string[] | undefined,
): (entry: PresenceEntry) => boolean {
  const [users, wanted] = [new Set(userIds), new Set(statuses)]
  return ({ userId, status }) =>
    (userIds === undefined || users.has(userId)) && (statuses === undefined || wanted.has(status))
}
