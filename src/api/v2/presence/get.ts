import type { PresenceEntry } from '../../../rooms/presence/presence-entry.ts'
import { defineOperation } from '../../operation.ts'
import { checkLength, responseExceeds } from '../../response-length.ts'
import {
  describedPresence,
  presenceDocument,
  presenceScope,
  presenceStatus,
  presentUserIds,
} from '../../schemas/presence-schema.ts'
import { batchMax, documentErrors } from '../../schemas/resource-schema.ts'

const entries = {
  type: 'array',
  items: {
    type: 'object',
    required: ['userId', 'name', 'email', 'status', 'source', 'editorIds', 'lastSeen'],
    properties: {
      ...describedPresence,
      status: { type: 'string', description: 'Status from REST, else from the client, else `online`.' },
      source: {
        type: 'string',
        enum: ['socket', 'rest'],
        description: '`socket`: the user is connected; `rest`: only a backend added the user.',
      },
      editorIds: {
        type: 'array',
        items: { type: 'string' },
        description: 'The editors to which the user is connected.',
      },
      lastSeen: {
        type: 'integer',
        description: 'Epoch milliseconds: the last sign of life of a connection, or call about the user.',
        examples: [1_767_225_600_000],
      },
    },
  },
} as const

export const getPresence = defineOperation({
  path: '/v2/presence/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List users on a document',
  description: 'Lists users who are connected to one of its editors, or whom a backend added, ordered by id.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId'],
    properties: {
      ...presenceDocument,
      userIds: { ...presentUserIds, description: 'Only these users.' },
      statuses: {
        type: 'array',
        maxItems: batchMax,
        items: presenceStatus,
        description: 'Only users with one of these statuses.',
      },
    },
  },
  response: entries,
  errors: [...documentErrors, responseExceeds],
  async handler({ userIds, statuses, ...document }, { caller, services }) {
    const scope = await presenceScope(document, caller, services)
    const all = await services.rooms.presence.entries(scope)
    const wanted = filterOf(userIds, statuses)
    const found = all.filter(wanted).toSorted((a, b) => (a.userId < b.userId ? -1 : 1))
    checkLength(found, services.responseBytesMax, 'request fewer users: name them in userIds')
    return { message: `${found.length} users are present.`, data: found }
  },
})

/** Returns a function that filters entries by user and status. A list that is absent does not filter. */
function filterOf(
  userIds: readonly string[] | undefined,
  statuses: readonly string[] | undefined,
): (entry: PresenceEntry) => boolean {
  const [users, wanted] = [new Set(userIds), new Set(statuses)]
  return ({ userId, status }) =>
    (userIds === undefined || users.has(userId)) && (statuses === undefined || wanted.has(status))
}
