import { invalid } from '../../../core/base/errors.ts'
import { json } from '../../../core/base/schema.ts'
import { decodeBase64 } from '../../../core/model/base64.ts'
import { EncodedJson } from '../../../core/model/json-pieces.ts'
import type { CreatedContent } from '../../../core/rooms/editor-content.ts'
import { BackendEdits } from '../../../core/rooms/edits/backend-edits.ts'
import { changeMeta, storedMeta } from '../../changes/change-meta.ts'
import { editorAddress, namingMissing, writeErrors } from '../../editor-content.ts'
import { nearMissWarnings } from '../../near-miss-warnings.ts'
import { defineOperation, warningsOf } from '../../operation.ts'
import { contentErrors, updateEncoding } from '../../schemas/content-format.ts'
import { documentPlace, editorId } from '../../schemas/resource-schema.ts'

const request = json.object(
  {
    ...documentPlace,
    editorId,
    update: json.bytes('A Yjs update, base64.', { examples: ['AQEBAAQBB2NvbnRlbnQCSGkA'] }),
  },
  {
    encoding: {
      ...updateEncoding,
      description: 'Encoding of `update`. An update in V2 may have 16 MB in V1.',
    },
    create: json.flag('True: creates the document if it does not exist.'),
    userId: json.id('Author of the change; returned as `lastUpdatedBy`.'),
    meta: changeMeta,
  },
)

const response = json.object({
  stateVector: json.bytes('Yjs state vector (V1) afterwards, base64.'),
  version: json.text('Names the state after the call; opaque.'),
  changed: json.boolean('False if the document already had the whole update.'),
  bytes: json.integer('Size of the new part.'),
})

export const applyUpdate = defineOperation({
  path: '/v2/crdt/apply',
  auth: 'key',
  effect: 'repeatable',
  runsAt: 'owner',
  audited: 'change',
  grows: 'content',
  warns: true,
  creates: true,
  summary: 'Apply a Yjs update',
  description:
    'For backends that have a Y.Doc of their own. The server skips the parts that the document already has. If the ' +
    'editor has a schema, the content must match it where the update changes it; `warnings` names older differences.',
  request,
  response,
  errors: [
    ...contentErrors.map((error) => ({ ...error, when: `${error.when}, and \`create\` is not set` })),
    {
      code: 'crdt/update-incomplete',
      when: 'the update builds on updates that the document does not have, or is from before a prune',
    },
    ...writeErrors,
  ],
  async handler(data, { caller, services, full }) {
    const cause = { source: 'rest', meta: await storedMeta(data.meta, caller, services) } as const
    const bytes = decodeBase64(data.update)
    if (bytes === null) throw invalid('crdt/malformed-update', 'update must be base64')
    const { documents } = services
    const address = editorAddress(caller, data)
    const expects = data.create === true && full === null ? 'either' : 'content'
    if (expects === 'content') await services.loader.ready(address)
    let created: CreatedContent = {}
    const making = async (): Promise<void> => {
      created = {
        ...created,
        ...(await documents.ensure(address, address.documentId)),
        editor: data.editorId,
      }
    }
    const applying = services.rooms.use(address, async (room) => {
      const [right, rootSchema] = await Promise.all([
        documents.rightToChange(address),
        services.schemas.of(address),
      ])
      const options = { expects, cause, making, right, full, rootSchema } as const
      const edits = new BackendEdits(room)
      const update = data.encoding === 'v2' ? await edits.convert(bytes) : bytes
      const applied = await edits.apply(data.userId ?? '', update, options)
      const { version, bytes: added, result } = applied
      const stateVector = new EncodedJson('base64', [result.vector])
      return { data: { stateVector, version, changed: added > 0, bytes: added }, older: result.warnings }
    })
    const applied = await namingMissing(documents, address, applying)
    const nearMisses = await nearMissWarnings(created, services, caller, data)
    const warnings = warningsOf([...nearMisses, ...applied.older])
    return { message: 'Update applied.', data: applied.data, created, ...warnings }
  },
})
