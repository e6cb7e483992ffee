import { json } from '../../../core/base/schema.ts'
import { shortened } from '../../../core/base/text.ts'
import { getChanges } from '../../history/api/v2/crdt/changes.ts'
import { mcpLimits } from '../mcp-limits.ts'
import { defineTool, showAllHidden } from '../tool.ts'
import { editorIdMembers, editorMembers, findEditor } from './editor-address.ts'
import { nextPageMember, pageMembers } from './list-documents.ts'

const { changeCharacters, hunks: hunksMax } = mcpLimits

/** Members of the arguments that select versions. */
export const versionMembers = {
  from: json.text('The earlier version, such as the one that you have read.', { maxLength: 200 }),
  to: json.text('The later version. Default: the current one.', { maxLength: 200 }),
} as const

export const listChangesTool = defineTool({
  name: 'list_changes',
  title: 'List changes',
  description:
    'Lists the changes of a document between two versions, by author, the oldest first, in pages. Use it to see what others ' +
    'have changed since you have read the document.',
  role: 'viewer',
  effect: 'reads',
  input: {
    type: 'object',
    required: ['documentId', 'from'],
    properties: {
      ...editorMembers,
      ...versionMembers,
      by: json.text('Only changes of this user.', { minLength: 1, maxLength: 512 }),
      pageSize: { ...pageMembers.pageSize, default: 20 },
      pageToken: pageMembers.pageToken,
    },
  },
  result: json.object(
    { from: json.text(), to: json.text(), count: json.integer() },
    { nextPageToken: nextPageMember },
  ),
  documentData: json.object({
    ...editorIdMembers,
    changes: json.list(
      json.object(
        {
          changeId: json.text(),
          inserted: json.integer('Inserted characters and values.'),
          deleted: json.integer(),
          hunks: json.list(json.object({ deleted: json.text(), inserted: json.text() })),
          truncated: json.boolean('True if hunks or parts of their texts are left out.'),
        },
        {
          userId: json.orNull(json.text()),
          at: json.orNull(json.text()),
          source: json.orNull(json.text()),
          meta: {},
        },
      ),
    ),
  }),
  async handler({ from, to, by, pageSize = 20, pageToken, ...given }, context) {
    const { ids } = await findEditor(given, context)
    const sent = { ...ids, from, to, by, pageSize, pageToken }
    const { data, pageToken: next } = await context.api.call(getChanges, sent)
    const changes = data.changes.map((change) => {
      const { changeId, userId, source, meta, inserted, deleted, lastAt, hunks, truncated } = change
      const shown = hunks.slice(0, hunksMax)
      return {
        changeId,
        userId,
        source,
        meta,
        inserted,
        deleted,
        at: lastAt,
        hunks: shown.map((hunk) => ({
          deleted: shortened(hunk.deleted, changeCharacters),
          inserted: shortened(hunk.inserted, changeCharacters),
        })),
        truncated: truncated || shown.length < hunks.length || shown.some(isCut),
      }
    })
    return {
      result: {
        from: data.from,
        to: data.to,
        count: changes.length,
        ...(next !== null && { nextPageToken: next }),
      },
      documentData: { ...ids, changes: showAllHidden(changes) as typeof changes },
    }
  },
})

const isCut = ({ deleted, inserted }: { readonly deleted: string; readonly inserted: string }): boolean =>
  deleted.length > changeCharacters || inserted.length > changeCharacters
