import { invalid } from '../../../../../core/base/errors.ts'
import { json } from '../../../../../core/base/schema.ts'
import { undoProblems } from '../../../../../core/content/history/undo-selection.ts'
import { RoomHistory } from '../../../../../core/rooms/history/room-history.ts'
import { changeMeta, checkChangeMeta, storedMeta } from '../../../../../rest/changes/change-meta.ts'
import {
  attributionDisabled,
  changeFilter,
  changeRange,
  groupSeconds,
  rangeErrors,
} from '../../../../../rest/changes/change-schema.ts'
import {
  overlapMembers,
  updateRequest,
  writableDocuments,
  writeErrors,
  writtenResponse,
} from '../../../../../rest/editor-content.ts'
import { defineAgentOperation, warningsOf } from '../../../../../rest/operation.ts'
import { contentErrors } from '../../../../../rest/schemas/content-format.ts'
import { readRange, versionedAddress, versionedEditor } from '../../version-schema.ts'

/** Maximum number of ids of change sets in one call. */
const changeIdsMax = 1_000
/** Maximum number of parts that a response names. */
const notUndoneMax = 1_000

const { dryRun, onOverlap, userId } = updateRequest.properties
const { version, changed, bytes } = writtenResponse.properties

const undoOverlaps = {
  ...overlapMembers,
  overlaps: {
    ...overlapMembers.overlaps,
    description:
      'Words that others have also changed; absent if there are none. `base` is the word with the undone changes only, ' +
      '`theirs` the present word, and `mine` the word without the undone changes. At most 100, with at most 1,000 ' +
      'characters of each value.',
  },
} as const

/** Without any of them, the call would undo all changes since the empty document. */
const conditions = ['from', 'by', 'meta', 'changeIds'] as const

export const undoContentChanges = defineAgentOperation({
  path: '/v2/crdt/undo',
  agents: { role: 'editor', ids: ['userId', 'by'], meta: 'undoMeta' },
  effect: 'once',
  runsAt: 'owner',
  audited: 'change',
  warns: true,
  grows: 'content',
  summary: 'Undo changes',
  description:
    'Selects the changes between two versions that meet all given conditions, and removes their effect by a new edit. ' +
    'Content of other changes stays. Undoing the same changes again changes nothing. At least one of `from`, `by`, `meta` and `changeIds` must be given. If no change meets the ' +
    'conditions, `warnings` names the users who have changed something.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'editorId'],
    properties: {
      ...versionedEditor,
      ...changeRange,
      by: changeFilter.by,
      meta: changeFilter.meta,
      changeIds: json.list(
        { type: 'string', maxLength: 64 },
        {
          minItems: 1,
          maxItems: changeIdsMax,
          description:
            'Only these change sets, by their ids in `/v2/crdt/changes` for the same two versions.',
        },
      ),
      groupSeconds,
      onOverlap: {
        ...onOverlap,
        description:
          'The effect if others have changed the same words as the undone changes. `report`, `keepTheirs`: these words ' +
          'stay, and all others are undone. `keepMine`: they get the text that they had before the undone changes. `fail`: ' +
          'the call fails, and nothing changes. Default: `report`; for agents `fail`.',
      },
      dryRun,
      userId,
      undoMeta: { ...changeMeta, description: '`meta` of the undo itself, as in `/v2/crdt/edit`.' },
    },
  },
  response: json.object(
    {
      version,
      changed: { ...changed, description: 'False if there was nothing to undo.' },
      bytes,
      undone: json.integer('Number of hunks that are undone, now or by an earlier call.'),
      notUndone: json.list(
        json.object({
          changeId: json.text(),
          hunk: json.orNull(
            json.integer(),
            'Number of the hunk in its change set; null if there is no such change set.',
          ),
          reason: json.choice(
            undoProblems,
            '`unknown-change`: there is no change set with this id. `changed-since`: another change has set the ' +
              'same entry or formatting. `deleted-container`: the element around it was deleted. ' +
              '`contains-other-changes`: the inserted element contains changes of others. `content-lost`: the ' +
              'deleted content is no longer stored. `overlap`: others have changed the same word; see `overlaps`.',
          ),
        }),
        { description: `Parts that stay, at most ${notUndoneMax}.` },
      ),
    },
    { ...undoOverlaps },
  ),
  errors: [
    ...rangeErrors,
    ...contentErrors,
    attributionDisabled,
    ...writeErrors,
    { code: 'crdt/overlap', when: 'others have changed the same words, and `onOverlap` is `fail`' },
  ],
  async handler(data, { caller, services, full }) {
    if (conditions.every((name) => data[name] === undefined))
      throw invalid('request/invalid-member', `at least one of ${conditions.join(', ')} must be given`)
    checkChangeMeta(data.meta)
    checkChangeMeta(data.undoMeta, '/data/undoMeta')
    const cause = { source: 'undo', meta: await storedMeta(data.undoMeta, caller, services) } as const
    await services.attribution.require(caller.tenant.workspaceId)
    const address = await versionedAddress(data, caller, services)
    const range = await readRange(data, address, services)
    const changes = data.changeIds?.map((changeId) => ({ changeId }))
    const { by, meta, groupSeconds: seconds } = data
    const policy = data.onOverlap ?? (caller.level === 'key' ? 'report' : 'fail')
    const done = await services.rooms.use(address, async (room) => {
      const [right, rootSchema] = await Promise.all([
        writableDocuments(services, caller).rightToChange(address),
        services.schemas.of(address),
      ])
      return new RoomHistory(room).undo(
        data.userId ?? '',
        range,
        { by, meta, groupSeconds: seconds, changes },
        policy,
        { expects: 'content', cause, dryRun: data.dryRun, right, full, rootSchema },
      )
    })
    const { undone, notUndone, otherAuthors, overlaps, overlapCount, warnings } = done.result
    return {
      message: otherAuthors === null ? 'Changes undone.' : 'Nothing to undo.',
      data: {
        version: done.version,
        changed: done.bytes > 0,
        bytes: done.bytes,
        undone,
        notUndone: notUndone.slice(0, notUndoneMax),
        ...(overlaps && { overlaps }),
        ...(overlapCount && { overlapCount }),
      },
      ...warningsOf(otherAuthors === null ? warnings : [nothingSelected(otherAuthors), ...warnings]),
    }
  },
})

const nothingSelected = (authors: readonly string[]): string =>
  `nothing was undone, because no change between the two versions meets the conditions; ${
    authors.length === 0
      ? 'no user has changed the editor between them'
      : `these users have changed it: ${authors.map((id) => JSON.stringify(id)).join(', ')}`
  }`
