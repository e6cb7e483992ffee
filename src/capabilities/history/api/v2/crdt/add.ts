import { json } from '../../../../../core/base/schema.ts'
import { storedMeta } from '../../../../../rest/changes/change-meta.ts'
import {
  contentRequest,
  createEditorContent,
  editorAddress,
  schemaErrors,
  withEncodedData,
  writeErrors,
  writtenResponse,
} from '../../../../../rest/editor-content.ts'
import { nearMissWarnings } from '../../../../../rest/near-miss-warnings.ts'
import { defineOperation, warningsOf } from '../../../../../rest/operation.ts'
import { contentErrors } from '../../../../../rest/schemas/content-format.ts'
import { invalidAt } from '../../../../../rest/validator.ts'
import { copyEditors } from '../../../editor-copies.ts'
import { copySource, noSuchVersion, versionedAddress } from '../../version-schema.ts'

const { organizationId, documentId, editorId, type, ...content } = contentRequest.properties
const { version, changed, ...counts } = writtenResponse.properties

/** The members that describe new content. */
const contentNames = ['data', 'type', 'contentKey', 'schema', 'strict'] as const

export const addContent = defineOperation({
  path: '/v2/crdt/add',
  auth: 'key',
  effect: 'once',
  runsAt: 'owner',
  audited: 'change',
  grows: 'editors',
  warns: true,
  creates: true,
  summary: 'Create the content of an editor',
  description:
    'If several calls create the same editor at once, exactly one succeeds. With `copyFrom`, the editor is a copy as by ' +
    '`/v2/crdt/copy`, and the response has no counts; otherwise `data` and `type` are required.',
  request: json.object(
    { organizationId, documentId, editorId },
    {
      ...content,
      type: { ...type, examples: ['text'] },
      copyFrom: json.object(
        { documentId: copySource.properties.documentId },
        {
          ...copySource.properties,
          editorId: json.id('Editor to copy. Default: the id of the new editor.'),
        },
      ),
    },
  ),
  response: json.object({ version, changed }, counts),
  errors: [
    { code: 'crdt/content-exists', when: 'the editor has data' },
    ...contentErrors,
    noSuchVersion,
    ...schemaErrors,
    ...writeErrors,
  ],
  async handler({ copyFrom, ...request }, { caller, services, text }) {
    const message = 'Content added.'
    const refuse = (name: string, why: string) => invalidAt({ path: `/data/${name}`, message: why })
    if (copyFrom === undefined) {
      const { type, data } = request
      if (data === undefined) throw refuse('data', 'is required')
      if (type === undefined) throw refuse('type', 'is required')
      const added = withEncodedData({ ...request, type, data }, text)
      return { message, ...(await createEditorContent(added, caller, services)) }
    }
    const extra = contentNames.find((name) => request[name] !== undefined)
    if (extra !== undefined) throw refuse(extra, 'must not be sent with copyFrom')
    const { userId = '', meta: given } = request
    const { versionId, ...source } = { ...request, ...copyFrom }
    const from = await versionedAddress(source, caller, services)
    const meta = await storedMeta(given, caller, services)
    const { items, created } = await copyEditors(
      services,
      from,
      editorAddress(caller, request),
      { versionId, onConflict: 'fail', withComments: false, userId, meta },
      { after: undefined, limit: 1 },
    )
    return {
      message,
      data: { version: items[0]?.version ?? '', changed: true },
      created,
      ...warningsOf(await nearMissWarnings(created, services, caller, request)),
    }
  },
})
