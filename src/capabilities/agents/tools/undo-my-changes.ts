import { json } from '../../../core/base/schema.ts'
import { undoContentChanges } from '../../history/api/v2/crdt/undo.ts'
import { defineTool, showAllHidden } from '../tool.ts'
import { editingMembers, overlapsMember } from './edit-document.ts'
import { editorIdMembers, editorMembers, findEditor } from './editor-address.ts'
import { versionMembers } from './list-changes.ts'

export const undoMyChangesTool = defineTool({
  name: 'undo_my_changes',
  title: 'Undo my changes',
  description:
    'Removes the effect of your own changes between two versions. Changes of others stay, also if they came later.',
  role: 'suggester',
  effect: 'changes',
  input: {
    type: 'object',
    required: ['documentId', 'from'],
    properties: {
      ...editorMembers,
      ...versionMembers,
      from: { ...versionMembers.from, description: 'The version before your changes.' },
      onOverlap: {
        ...editingMembers.onOverlap,
        description:
          'The effect if users have changed the same words. `fail` (default): nothing changes, and the error lists the ' +
          'words. `report`, `keepTheirs`: these words stay. `keepMine`: they get the text from before your changes.',
      },
      dryRun: json.flag('True: only count the changes.'),
    },
  },
  result: json.object(
    {
      version: json.text(),
      changed: json.boolean('False if there was nothing to undo.'),
      undone: json.integer('Parts that are undone, now or by an earlier call.'),
      notUndone: json.integer('Parts that stay.'),
    },
    { reasons: json.list(json.text(), { description: 'Reasons why parts stay.' }) },
  ),
  documentData: json.object({ ...editorIdMembers }, { overlaps: overlapsMember }),
  async handler({ from, to, onOverlap, dryRun, ...given }, context) {
    const { ids } = await findEditor(given, context)
    const sent = { ...ids, from, to, onOverlap, dryRun }
    const { data } = await context.api.call(undoContentChanges, sent)
    const { version, changed, undone, notUndone, overlaps } = data
    return {
      result: {
        version,
        changed,
        undone,
        notUndone: notUndone.length,
        reasons: [...new Set(notUndone.map(({ reason }) => reason))],
      },
      documentData: {
        ...ids,
        ...(overlaps !== undefined && { overlaps: showAllHidden(overlaps) as typeof overlaps }),
      },
    }
  },
})
