import { json } from '../../../../../../core/base/schema.ts'
import { withRemedy } from '../../../../../../core/model/json-pieces.ts'
import { rootToRead } from '../../../../../../core/rooms/editor-content.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { responseExceeds } from '../../../../../../rest/response-length.ts'
import {
  contentErrors,
  contentFormat,
  noSuchRoot,
  smallerFormats,
  stateEncoding,
} from '../../../../../../rest/schemas/content-format.ts'
import { contentKeySchema } from '../../../../../../rest/schemas/resource-schema.ts'
import {
  noSuchVersion,
  toVersionResponse,
  versionedAddress,
  versionedEditor,
  versionId,
  versionRecord,
} from '../../../version-schema.ts'

const request = json.object(
  { ...versionedEditor, versionId },
  { contentKey: contentKeySchema, format: contentFormat, encoding: stateEncoding },
)

export const getVersion = defineOperation({
  path: '/v2/crdt/versions/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read the content of a version',
  description: 'In the formats of `/v2/crdt/get`.',
  request,
  response: {
    type: 'object',
    required: [...versionRecord.required, 'data', 'type', 'contentKey'],
    properties: {
      ...versionRecord.properties,
      data: {},
      type: json.text(),
      contentKey: json.text(),
    },
  },
  errors: [...contentErrors, noSuchVersion, noSuchRoot, responseExceeds],
  async handler(data, { caller, services }) {
    const address = await versionedAddress(data, caller, services)
    const [{ record, bytes }, attached] = await Promise.all([
      services.versions.read(address, data.versionId),
      services.schemas.attachedTo(address),
    ])
    const { rooms, config } = services
    const reading = { ...data, ...rootToRead(data.contentKey, attached) }
    const content = await rooms
      .readState(address, bytes, reading, config.maxResponseBytes)
      .catch((error: unknown) => {
        throw withRemedy(error, config.maxResponseBytes, smallerFormats(data.format))
      })
    return { message: 'Version found.', data: { ...toVersionResponse(record), ...content } }
  },
})
