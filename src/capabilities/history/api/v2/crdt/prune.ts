import { json } from '../../../../../core/base/schema.ts'
import { storedMeta } from '../../../../../rest/changes/change-meta.ts'
import { updateRequest, writeErrors } from '../../../../../rest/editor-content.ts'
import { defineOperation } from '../../../../../rest/operation.ts'
import { contentErrors } from '../../../../../rest/schemas/content-format.ts'
import { versionLimits } from '../../../limits.ts'
import { versionedAddress, versionedEditor, versionId } from '../../version-schema.ts'

const { meta } = updateRequest.properties

export const pruneEditor = defineOperation({
  path: '/v2/crdt/prune',
  auth: 'key',
  effect: 'once',
  runsAt: 'owner',
  audited: 'change',
  grows: 'editors',
  makes: ['versionId'],
  summary: 'Prune the history of an editor',
  description:
    'Replaces the content by an equal copy without deleted content, and starts a new generation of the editor. Clients ' +
    'stay connected. An edit of a client that was offline is made at its place in the copy. The content before becomes ' +
    'an automatic version.',
  request: json.object(
    { ...versionedEditor },
    { userId: json.id('User who prunes the editor; returned as `lastUpdatedBy`.'), meta },
  ),
  response: json.object({
    generation: json.integer('Number of prunes of the editor, this one included.', { examples: [1] }),
    bytesBefore: json.integer('Size of the document before, as encoded by Yjs.', { examples: [920_000] }),
    bytesAfter: json.integer('Size of the document afterwards.', { examples: [105_000] }),
    version: json.text('Version of the document afterwards; opaque.'),
    versionId: json.text('Id of the saved version with the content before the prune.', {
      examples: versionId.examples,
    }),
  }),
  errors: [
    ...contentErrors,
    ...writeErrors,
    { code: 'crdt/open-branches', when: 'the editor is a branch or has open branches' },
    { code: 'crdt/open-streams', when: 'a stream writes to the editor' },
    { code: 'crdt/too-many-prunes', when: `the editor was pruned ${versionLimits.prunes} times` },
  ],
  async handler({ userId, meta: given, ...editor }, { caller, services }) {
    const stored = await storedMeta(given, caller, services)
    const address = await versionedAddress(editor, caller, services)
    const right = () => services.documents.rightToChange(address)
    const data = await services.versions.prune(address, { userId, meta: stored, right })
    return { message: 'Editor pruned.', data }
  },
})
