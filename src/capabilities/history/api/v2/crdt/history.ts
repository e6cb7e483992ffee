import { json } from '../../../../../core/base/schema.ts'
import {
  EncodedJson,
  encodeJson,
  isResponseTooLarge,
  responseTooLarge,
} from '../../../../../core/model/json-pieces.ts'
import { RoomHistory } from '../../../../../core/rooms/history/room-history.ts'
import type { AttributedRange, Attribution } from '../../../../../core/update/attribution/attribution.ts'
import {
  attributionDisabled,
  changeOrigin,
  toOriginResponse,
} from '../../../../../rest/changes/change-schema.ts'
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
    const { version, update, attribution } = await services.rooms.use(address, async (room) =>
      new RoomHistory(room).document(),
    )
    const { maxResponseBytes } = services.config
    const encoded = new EncodedJson('base64', [update])
    let bytesLeft = maxResponseBytes - encoded.bytes
    const fitting = (value: unknown): EncodedJson => {
      const part = encodeJson(value, bytesLeft)
      bytesLeft -= part.bytes
      return part
    }
    try {
      if (bytesLeft < 0) throw responseTooLarge(maxResponseBytes, remedy)
      const { origins, inserted, deleted } = indexed(attribution)
      const data = {
        version,
        update: encoded,
        origins: fitting(origins.map(toOriginResponse)),
        inserted: fitting(inserted),
        deleted: fitting(deleted),
      }
      return { message: 'History found.', data }
    } catch (error) {
      throw isResponseTooLarge(error) ? responseTooLarge(maxResponseBytes, remedy) : error
    }
  },
})

const remedy = 'read `/v2/crdt/get`'

/** Replaces the origin of each range by its index in a list of all origins. */
function indexed(attribution: Attribution) {
  const indexes = new Map<AttributedRange['origin'], number>()
  const indexOf = (origin: AttributedRange['origin']): number => {
    const index = indexes.get(origin) ?? indexes.size
    indexes.set(origin, index)
    return index
  }
  const rangesOf = (lists: Attribution['inserted']) =>
    [...lists].flatMap(([client, ranges]) =>
      ranges.map(({ clock, length, origin }) => ({ client, clock, length, origin: indexOf(origin) })),
    )
  const [inserted, deleted] = [rangesOf(attribution.inserted), rangesOf(attribution.deleted)]
  return { inserted, deleted, origins: [...indexes.keys()] }
}
