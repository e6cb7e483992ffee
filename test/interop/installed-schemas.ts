import { BlockNoteEditor } from '@blocknote/core'
import { Editor } from '@tiptap/core'
import { Image } from '@tiptap/extension-image'
import { TaskItem, TaskList } from '@tiptap/extension-list'
import { Mention } from '@tiptap/extension-mention'
import { TableKit } from '@tiptap/extension-table'
import { TextStyleKit } from '@tiptap/extension-text-style'
import type { Schema } from '@tiptap/pm/model'
import { StarterKit } from '@tiptap/starter-kit'
import Quill from 'quill'
import { place } from './dom.ts'

export function schemaOfTiptap(inlineImages: boolean): Schema {
  const editor = new Editor({
    element: place(),
    extensions: [
      StarterKit,
      Image.configure({ inline: inlineImages }),
      TableKit,
      TaskList,
      TaskItem.configure({ nested: true }),
      TextStyleKit,
      Mention,
    ],
  })
  const { schema } = editor
  editor.destroy()
  return schema
}

export const schemaOfBlockNote = (): Schema => BlockNoteEditor.create().pmSchema

/** Parts of formats that Quill registers, but that never appear in a delta. */
const internal = [
  'code-block-container',
  'code-token',
  'list-container',
  'table-body',
  'table-container',
  'table-row',
]

/** Returns the names of formats and embeds, sorted. */
export const formatsOfQuill = (): readonly string[] =>
  Object.keys(Quill.imports)
    .filter((name) => name.startsWith('formats/'))
    .map((name) => name.slice('formats/'.length))
    .filter((name) => !internal.includes(name))
    .sort()
