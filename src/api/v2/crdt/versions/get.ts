import { contentKey } from '../../../editor-content.ts'
import { contentFormat } from '../../../editor-reading.ts'
import { operation } from '../../../operation.ts'
import {
  noSuchVersion,
  showVersion,
  versionedAddress,
  versionedEditor,
  versionId,
  versionRecord,
} from '../../../version-schema.ts'

const request = {
  type: 'object',
  required: ['organizationId', 'documentId', 'editorId', 'versionId'],
  properties: {
    ...versionedEditor,
    versionId,
    contentKey: {
      ...contentKey,
      description: 'Name of the shared type; without it `content`, or the only one there is.',
    },
    format: contentFormat,
  },
} as const

export const getVersion = operation({
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
      type: { type: 'string' },
      contentKey: { type: 'string' },
    },
  },
  errors: [noSuchVersion],
  async handler(data, { caller, services }) {
    const address = await versionedAddress(data, caller, services)
    const { record, bytes } = await services.versions.read(address, data.versionId)
    const content = await services.rooms.readState(bytes, data)
    return { message: 'Version found.', data: { ...showVersion(record), ...content } }
  },
})
