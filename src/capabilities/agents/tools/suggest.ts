import { randomBytes } from 'node:crypto'
import { ApiError } from '../../../core/base/errors.ts'
import { json } from '../../../core/base/schema.ts'
import { shortened } from '../../../core/base/text.ts'
import { createBranch } from '../../branches/api/v2/crdt/branches/create.ts'
import { deleteBranch } from '../../branches/api/v2/crdt/branches/delete.ts'
import { diffBranch } from '../../branches/api/v2/crdt/branches/diff.ts'
import { mcpLimits } from '../mcp-limits.ts'
import { defineTool, showAllHidden, type ToolContext } from '../tool.ts'
import { editedMembers, editingMembers, overlapsMember, placesMember, sendEdits } from './edit-document.ts'
import { type AddressIds, editorIdMembers, type FoundEditor, findEditor } from './editor-address.ts'

const { changeCharacters, hunks: hunksMax } = mcpLimits

export const suggestTool = defineTool({
  name: 'suggest',
  title: 'Suggest changes',
  description:
    'Edits a branch of a document instead of the document: a suggestion, which a user accepts or rejects. Without `branch`, it ' +
    'begins a new branch. With `branch`, it continues a branch of yours. Returns the name of the branch and all of its changes.',
  role: 'suggester',
  effect: 'adds',
  input: {
    type: 'object',
    required: ['documentId', 'edits'],
    properties: {
      ...editingMembers,
      branch: json.text('Name of a branch that an earlier call has returned.', {
        minLength: 1,
        maxLength: 100,
      }),
    },
  },
  result: json.object({
    branch: json.text('Name of the branch.'),
    created: json.boolean('True if this call began the branch.'),
    ...editedMembers,
    version: json.text('The version of the branch after the edits.'),
    hunks: json.integer('Changes of the branch that this result has.'),
    hunksLeftOut: json.boolean('True if the branch has further changes.'),
  }),
  documentData: json.object(
    {
      ...editorIdMembers,
      editorId: json.text('The editor of the branch, for `read_document`.'),
      places: placesMember,
      diff: json.list(json.object({ deleted: json.text(), inserted: json.text() }), {
        description: 'The changes of the branch, in the order of the document.',
      }),
    },
    { overlaps: overlapsMember },
  ),
  async handler({ edits, baseVersion, onOverlap, ifVersion, branch, ...given }, context) {
    const main = await findEditor(given, context)
    // A canceled call leaves the branch with its edits, or no branch.
    const continuing = { ...context, api: context.api.continuing() }
    const name = branch ?? `agent-${randomBytes(6).toString('hex')}`
    const editorId =
      branch === undefined ? await beginBranch(main.ids, name, continuing) : `${main.ids.editorId}@${branch}`
    const found: FoundEditor = { ...main, ids: { ...main.ids, editorId } }
    const sent = { edits, baseVersion, onOverlap, ifVersion }
    const outcome = await sendEdits(found, sent, continuing).catch(async (error: unknown) => {
      // The call leaves nothing behind if it fails.
      if (branch === undefined) await removeBranch(main.ids, name, continuing)
      throw error
    })
    const { documentData, ...result } = outcome
    const { hunks, truncated } = await readDiff(main.ids, name, context)
    const shown = hunks.slice(0, hunksMax)
    return {
      result: {
        branch: name,
        created: branch === undefined,
        ...result,
        hunks: shown.length,
        hunksLeftOut: truncated || hunks.length > shown.length,
      },
      documentData: { ...found.ids, ...documentData, diff: shown },
    }
  },
})

async function beginBranch(ids: AddressIds, name: string, { api }: ToolContext): Promise<string> {
  const { data } = await api.call(createBranch, { ...ids, name })
  return data.branchEditorId
}

/** Deletes a branch after an error, which is more important than an error of the deletion. */
async function removeBranch(ids: AddressIds, name: string, { api }: ToolContext): Promise<void> {
  try {
    await api.call(deleteBranch, { ...ids, name })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}

interface BranchChanges {
  readonly hunks: readonly { readonly deleted: string; readonly inserted: string }[]
  readonly truncated: boolean
}

async function readDiff(ids: AddressIds, name: string, { api }: ToolContext): Promise<BranchChanges> {
  const { data } = await api.call(diffBranch, { ...ids, name })
  const hunks = data.hunks.map(({ deleted, inserted }) => ({
    deleted: shortened(deleted, changeCharacters),
    inserted: shortened(inserted, changeCharacters),
  }))
  return { hunks: showAllHidden(hunks) as BranchChanges['hunks'], truncated: data.truncated }
}
