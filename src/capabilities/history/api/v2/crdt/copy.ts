import { json } from '../../../../../core/base/schema.ts'
import { storedMeta } from '../../../../../rest/changes/change-meta.ts'
import { contentRequest, schemaErrors, writeErrors } from '../../../../../rest/editor-content.ts'
import { nearMissWarnings } from '../../../../../rest/near-miss-warnings.ts'
import { defineOperation, warningsOf } from '../../../../../rest/operation.ts'
import { pageRequest, pageSizeUpTo, readPage } from '../../../../../rest/paging/page-request.ts'
import { contentErrors } from '../../../../../rest/schemas/content-format.ts'
import { documentPlace, editorId } from '../../../../../rest/schemas/resource-schema.ts'
import { invalidAt } from '../../../../../rest/validator.ts'
import { commentLimits } from '../../../../comments/limits.ts'
import { type CopyPlace, conflictPolicies, copyEditors } from '../../../editor-copies.ts'
import { copySource, noSuchVersion, versionedAddress } from '../../version-schema.ts'

/** Maximum number of editors that one call copies. */
const editorsMax = 100

const { userId, meta } = contentRequest.properties

export const copyContent = defineOperation({
  path: '/v2/crdt/copy',
  auth: 'key',
  effect: 'once',
  runsAt: 'owner',
  audited: 'change',
  grows: 'editors',
  warns: true,
  creates: true,
  summary: 'Copy an editor or a document',
  description:
    'Creates the editors with the content of `from`, under new client ids, so that copy and original never merge. It ' +
    'also copies the authors of the content and the attached schemas, but not branches and saved versions. A document ' +
    'that does not exist is created, with the access type of its source. Each editor is durable before the next one is ' +
    'copied, so a call that fails may have copied some: send `onConflict: "skip"` to copy the others.',
  request: json.object(
    {
      ...documentPlace,
      documentId: json.id('Document of the copy.', { examples: ['report-copy'] }),
      from: copySource,
    },
    {
      editorId: { ...editorId, description: 'Editor of the copy. Default: `from.editorId`.' },
      onConflict: json.choice(
        conflictPolicies,
        'The effect on an editor that exists. `fail`: the call fails, and nothing changes. `skip`: it stays as it is. ' +
          '`replace`: it gets the content of `from` as by `/v2/crdt/versions/restore`. Default: `fail`.',
        { examples: ['skip'] },
      ),
      withComments: json.flag(
        'True: copies comment threads, at most ' +
          `${commentLimits.copied.toLocaleString('en')}, with new annotation ids and moved anchors. Threads of editors ` +
          'that are skipped or replaced are not copied.',
      ),
      userId,
      meta,
      ...pageRequest,
      pageSize: pageSizeUpTo(editorsMax, editorsMax),
    },
  ),
  response: json.object({
    editors: json.list(
      json.object(
        { editorId: json.text(), result: json.choice(['created', 'replaced', 'skipped']) },
        { version: json.text('Names the state after the call; opaque. Absent if the editor was skipped.') },
      ),
    ),
  }),
  errors: [
    ...contentErrors,
    noSuchVersion,
    { code: 'crdt/content-exists', when: 'an editor exists, and `onConflict` is `fail`' },
    { code: 'comment/too-many', when: 'the document of `from` has too many comment threads' },
    ...schemaErrors,
    ...writeErrors,
  ],
  async handler(data, context) {
    const { caller, services } = context
    const { organizationId, documentId } = data
    const { versionId, ...source } = { organizationId, ...data.from }
    const to: CopyPlace = { ...caller.tenant, organizationId, documentId, editorId: data.editorId }
    const from: CopyPlace = { ...caller.tenant, ...source }
    if (from.editorId !== undefined)
      await versionedAddress({ ...source, editorId: from.editorId }, caller, services)
    else if (data.editorId !== undefined || versionId !== undefined)
      throw invalidAt({ path: '/data/from/editorId', message: 'is required with editorId or versionId' })
    else await services.documents.require(from, from.documentId)
    const request = {
      versionId,
      onConflict: data.onConflict ?? 'fail',
      withComments: data.withComments === true,
      userId: data.userId ?? '',
      meta: await storedMeta(data.meta, caller, services),
    }
    const { found, token } = await readPage(
      context,
      ['copy', to, from, request.onConflict, request.withComments],
      data,
      (range) => copyEditors(services, from, to, request, range),
      editorsMax,
    )
    const { items: editors, created } = found
    return {
      message: `${editors.filter(({ result }) => result !== 'skipped').length} editors copied.`,
      data: { editors },
      created,
      ...token,
      ...warningsOf(await nearMissWarnings(created, services, caller, data)),
    }
  },
})
