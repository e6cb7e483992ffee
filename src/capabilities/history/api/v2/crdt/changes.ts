import * as s from '../../../../../core/base/schema.ts'
import { json } from '../../../../../core/base/schema.ts'
import type { ChangeSet } from '../../../../../core/content/history/change-sets.ts'
import { readPagePosition } from '../../../../../core/directory/store/list-page.ts'
import { type EncodedJson, encodeJson, withRemedy } from '../../../../../core/model/json-pieces.ts'
import { RoomHistory } from '../../../../../core/rooms/history/room-history.ts'
import { checkChangeMeta } from '../../../../../rest/changes/change-meta.ts'
import {
  attributionDisabled,
  changeFilter,
  changeRange,
  changeSet,
  groupSeconds,
  rangeErrors,
  rangeResponse,
  toChangeSetResponse,
} from '../../../../../rest/changes/change-schema.ts'
import { defineAgentOperation } from '../../../../../rest/operation.ts'
import { pageRequest, pageSizeUpTo, readPage } from '../../../../../rest/paging/page-request.ts'
import { responseExceeds } from '../../../../../rest/response-length.ts'
import { contentErrors } from '../../../../../rest/schemas/content-format.ts'
import { readRange, versionedAddress, versionedEditor } from '../../version-schema.ts'

/** Maximum number of change sets in one response. */
const changesMax = 100

export const getChanges = defineAgentOperation({
  path: '/v2/crdt/changes',
  agents: { role: 'viewer' },
  effect: 'reads',
  runsAt: 'owner',
  strict: true,
  audited: 'read',
  summary: 'List the changes between two versions',
  description:
    'The changes of one author with the same source and the same `meta` form a change set, until the author pauses. ' +
    'The sets are sorted by time. Content that one set has both inserted and deleted is in none.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'editorId'],
    properties: {
      ...versionedEditor,
      ...changeRange,
      ...changeFilter,
      groupSeconds,
      ...pageRequest,
      pageSize: pageSizeUpTo(changesMax, changesMax),
    },
  },
  response: json.object({ ...rangeResponse, changes: json.list(changeSet) }),
  errors: [...rangeErrors, ...contentErrors, attributionDisabled, responseExceeds],
  async handler(data, context) {
    const { caller, services } = context
    checkChangeMeta(data.meta)
    await services.attribution.require(caller.tenant.workspaceId)
    const address = await versionedAddress(data, caller, services)
    const { by, meta, groupSeconds: seconds } = data
    const query = ['changes', address.organizationId, address.documentId, address.editorId, data.from ?? '']
    const { found, token } = await readPage(
      context,
      [...query, data.to ?? '', by ?? '', meta ?? {}, seconds ?? ''],
      data,
      async ({ after, limit }) => {
        const start = after === undefined ? null : readPagePosition(positionSchema, after)
        const range = await readRange({ from: data.from, to: data.to ?? start?.to }, address, services)
        const { from, to, changes, total } = await services.rooms.use(address, async (room) =>
          new RoomHistory(room).changes(range, {
            by,
            meta,
            groupSeconds: seconds,
            skip: start?.skip,
            changesMax: limit,
          }),
        )
        const end = (start?.skip ?? 0) + changes.length
        // The next page must compare with the same version, also if `to` is absent.
        const next = end < total && changes.length > 0 ? JSON.stringify({ to, skip: end }) : null
        return { items: changes, next, from, to }
      },
      changesMax,
    )
    return {
      message: `${found.items.length} changes found.`,
      data: {
        from: found.from,
        to: found.to,
        changes: encoded(found.items, services.config.maxResponseBytes),
      },
      ...token,
    }
  },
})

/** @throws ApiError RESOURCE_EXHAUSTED if the response would be too large */
function encoded(changes: readonly ChangeSet[], bytesMax: number): EncodedJson {
  try {
    return encodeJson(changes.map(toChangeSetResponse), bytesMax)
  } catch (error) {
    throw withRemedy(error, bytesMax, 'request a smaller pageSize')
  }
}

/** The start of a page after the first one. */
const positionSchema = s.object({ to: s.string, skip: s.number })
