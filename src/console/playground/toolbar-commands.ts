import { chainCommands, exitCode, setBlockType, toggleMark } from 'prosemirror-commands'
import type { NodeType } from 'prosemirror-model'
import { liftListItem, wrapInList } from 'prosemirror-schema-list'
import type { Command, EditorState } from 'prosemirror-state'
import { redo, undo } from 'y-prosemirror'
import { schema } from './schema.ts'

const { paragraph, heading, bullet_list, list_item, hard_break } = schema.nodes
const { strong, em } = schema.marks

/** Level of headings that the toolbar creates. Level 1 is the heading of the page. */
const level = 2

const isIn = (state: EditorState, type: NodeType): boolean => {
  const { $from } = state.selection
  for (let depth = $from.depth; depth > 0; depth -= 1) if ($from.node(depth).type === type) return true
  return false
}

const hasMark = (state: EditorState, type: typeof strong): boolean => {
  const { from, to, $from, empty } = state.selection
  if (empty) return type.isInSet(state.storedMarks ?? $from.marks()) !== undefined
  return state.doc.rangeHasMark(from, to, type)
}

const toggleHeading: Command = (state, ...rest) =>
  (isIn(state, heading) ? setBlockType(paragraph) : setBlockType(heading, { level }))(state, ...rest)

const toggleList: Command = (state, ...rest) =>
  (isIn(state, bullet_list) ? liftListItem(list_item) : wrapInList(bullet_list))(state, ...rest)

export const breakLine: Command = chainCommands(exitCode, (state, dispatch) => {
  dispatch?.(state.tr.replaceSelectionWith(hard_break.create()).scrollIntoView())
  return true
})

export interface Tool {
  readonly name: string
  /** Key combination in the notation of ProseMirror's keymaps. */
  readonly key: string
  readonly command: Command
  /** Returns whether the command is active at the cursor. Absent for a command that has no such state. */
  readonly isOn?: (state: EditorState) => boolean
}

/** All tools in the order of the toolbar. */
export const tools: readonly Tool[] = [
  { name: 'Bold', key: 'Mod-b', command: toggleMark(strong), isOn: (state) => hasMark(state, strong) },
  { name: 'Italic', key: 'Mod-i', command: toggleMark(em), isOn: (state) => hasMark(state, em) },
  { name: 'Heading', key: 'Mod-Alt-2', command: toggleHeading, isOn: (state) => isIn(state, heading) },
  { name: 'List', key: 'Mod-Shift-8', command: toggleList, isOn: (state) => isIn(state, bullet_list) },
  { name: 'Undo', key: 'Mod-z', command: undo },
  { name: 'Redo', key: 'Mod-y', command: redo },
]
