import { randomBytes } from 'node:crypto'
import { ApiError } from '../../../core/base/errors.ts'
import { shortened } from '../../../core/base/text.ts'
import { createBranch } from '../../branches/api/v2/crdt/branches/create.ts'
import { deleteBranch } from '../../branches/api/v2/crdt/branches/delete.ts'
import { diffBranch } from '../../branches/api/v2/crdt/branches/diff.ts'
import { showAllHidden } from '../document-data.ts'
import { mcpLimits } from '../mcp-limits.ts'
import { defineTool, type ToolContext } from '../tool.ts'
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
      branch: {
        type: 'string',
        minLength: 1,
        maxLength: 100,
        description: 'Name of a branch that an earlier call has returned.',
      },
    },
  },
  result: {
    type: 'object',
    required: ['branch', 'created', 'version', 'changed', 'warnings', 'hunks', 'hunksLeftOut'],
    properties: {
      branch: { type: 'string', description: 'Name of the branch.' },
      created: { type: 'boolean', description: 'True if this call began the branch.' },
      ...editedMembers,
      version: { type: 'string', description: 'The version of the branch after the edits.' },
      hunks: { type: 'integer', description: 'Changes of the branch that this result has.' },
      hunksLeftOut: { type: 'boolean', description: 'True if the branch has further changes.' },
    },
  },
  documentData: {
    type: 'object',
    required: ['organizationId', 'documentId', 'editorId', 'places', 'diff'],
    properties: {
      ...editorIdMembers,
      editorId: { type: 'string', description: 'The editor of the branch, for `read_document`.' },
      places: placesMember,
      overlaps: overlapsMember,
      diff: {
        type: 'array',
        description: 'The changes of the branch, in the order of the document.',
        items: {
          type: 'object',
          required: ['deleted', 'inserted'],
          properties: { deleted: { type: 'string' }, inserted: { type: 'string' } },
        },
      },
    },
  },
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
