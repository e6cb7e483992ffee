import { json } from '../../../../../../core/base/schema.ts'
import { diffFormats } from '../../../../../../core/content/content-type-names.ts'
import { withRemedy } from '../../../../../../core/model/json-pieces.ts'
import { RoomHistory } from '../../../../../../core/rooms/history/room-history.ts'
import { changeRange, rangeErrors, rangeResponse } from '../../../../../../rest/changes/change-schema.ts'
import { defineAgentOperation } from '../../../../../../rest/operation.ts'
import { responseExceeds } from '../../../../../../rest/response-length.ts'
import { contentErrors, noSuchRoot } from '../../../../../../rest/schemas/content-format.ts'
import { contentKeySchema } from '../../../../../../rest/schemas/resource-schema.ts'
import { readRange, versionedAddress, versionedEditor } from '../../../version-schema.ts'

export const diffVersions = defineAgentOperation({
  path: '/v2/crdt/versions/diff',
  agents: { role: 'viewer' },
  effect: 'reads',
  runsAt: 'owner',
  strict: true,
  audited: 'read',
  summary: 'Compare two versions of an editor',
  description: 'Compares one root. Needs no authors, so it also works while attribution is disabled.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'editorId', 'format'],
    properties: {
      ...versionedEditor,
      contentKey: contentKeySchema,
      ...changeRange,
      format: json.choice(
        diffFormats,
        '`runs`: `[{ change, path, text | node | values }]` in the order of the document, where `change` is `insert`, ' +
          '`delete` or `none`. `markdown`: Markdown with `<ins>` and `<del>`. `prosemirror`: ProseMirror JSON with the ' +
          'marks `insertion` and `deletion`. `patch`: JSON Patch (RFC 6902) for a map or an array.',
      ),
    },
  },
  response: json.object({ ...rangeResponse, contentKey: json.text(), diff: {} }),
  errors: [
    ...rangeErrors,
    ...contentErrors,
    noSuchRoot,
    { code: 'crdt/root-kind-mismatch', when: 'the root has no comparison in this format' },
    responseExceeds,
  ],
  async handler(data, { caller, services }) {
    const address = await versionedAddress(data, caller, services)
    const [range, attached] = await Promise.all([
      readRange(data, address, services),
      services.schemas.attachedTo(address),
    ])
    const { rooms, config } = services
    const reading = { contentKey: data.contentKey ?? attached?.contentKey, format: data.format }
    const found = await rooms
      .use(address, async (room) => new RoomHistory(room).diff(range, reading, config.maxResponseBytes))
      .catch((error: unknown) => {
        throw withRemedy(error, config.maxResponseBytes, 'compare versions that are nearer to each other')
      })
    return { message: 'Versions compared.', data: found }
  },
})
