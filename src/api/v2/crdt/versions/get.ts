import * as Y from 'yjs'
import type { Content } from '../../../../content/read.ts'
import { contentKey } from '../../../editor-content.ts'
import { contentFormat, readFormat } from '../../../editor-reading.ts'
import { operation } from '../../../operation.ts'
import type { From } from '../../../schema.ts'
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
    return { message: 'Version found.', data: { ...showVersion(record), ...contentOf(bytes, data) } }
  },
})

function contentOf(bytes: Uint8Array, wanted: From<typeof request>): Content {
  const doc = new Y.Doc()
  try {
    Y.applyUpdate(doc, bytes)
    return readFormat(doc, wanted)
  } finally {
    doc.destroy()
  }
}
