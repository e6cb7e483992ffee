import { json } from '../../../../../core/base/schema.ts'
import { withRemedy } from '../../../../../core/model/json-pieces.ts'
import { RoomHistory } from '../../../../../core/rooms/history/room-history.ts'
import { attributionDisabled, changeOrigin } from '../../../../../rest/changes/change-schema.ts'
import { defineOperation } from '../../../../../rest/operation.ts'
import { responseExceeds } from '../../../../../rest/response-length.ts'
import { contentErrors } from '../../../../../rest/schemas/content-format.ts'
import { versionedAddress, versionedEditor } from '../../version-schema.ts'

const ranges = (description: string) =>
  json.list(
    json.object({
      client: json.integer('Client id of Yjs.'),
      clock: json.integer('First clock.'),
      length: json.integer('Number of clocks.'),
      origin: json.integer('Index in `origins`.'),
    }),
    { description },
  )

export const getHistory = defineOperation({
  path: '/v2/crdt/history',
  auth: 'key',
  effect: 'reads',
  runsAt: 'owner',
  audited: 'read',
  summary: 'Read an editor with its deleted content and all authors',
  description:
    'Apply `update` to a Y.Doc with `gc: false`. With the origins of its ids, each moment of the document can be shown. ' +
    'Content that was deleted before the oldest version of the log is missing.',
  request: json.object(versionedEditor),
  response: json.object({
    version: json.text('Names this state; opaque.'),
    update: json.bytes('Yjs update (V1), base64.'),
    origins: json.list(changeOrigin, { description: 'Authors, times and calls of changes.' }),
    inserted: ranges('Inserted ids, by client, in the order of their clocks.'),
    deleted: ranges('Deleted ids, in the same form.'),
  }),
  errors: [...contentErrors, attributionDisabled, responseExceeds],
  async handler(data, { caller, services }) {
    await services.attribution.require(caller.tenant.workspaceId)
    const address = await versionedAddress(data, caller, services)
    const { maxResponseBytes } = services.config
    const found = await services.rooms
      .use(address, async (room) => new RoomHistory(room).document(maxResponseBytes))
      .catch((error: unknown) => {
        throw withRemedy(error, maxResponseBytes, 'read `/v2/crdt/get`')
      })
    return { message: 'History found.', data: found }
  },
})
