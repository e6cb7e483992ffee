'use client'

import { Collaboration } from '@tiptap/extension-collaboration'
import { CollaborationCaret } from '@tiptap/extension-collaboration-caret'
import { EditorContent, useEditor } from '@tiptap/react'
import { StarterKit } from '@tiptap/starter-kit'
import { useEffect } from 'react'
import { Room, useRoom, WeftProvider } from 'weft-server/react'
import { IndexeddbPersistence } from 'y-indexeddb'
import { State } from './state'

const colors = ['#f6a5a5', '#f6d6a5', '#a5f6c9', '#a5e0f6', '#b5a5f6', '#f6a5e0']
const colorOf = (name) =>
  colors[[...name].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % colors.length]

export function SharedEditor({ name, documentId, endpoint }) {
  const user = { name, color: colorOf(name) }
  return (
    <WeftProvider
      url="/collab"
      organizationId="demo"
      endpoint={endpoint}
      user={user}
      offline={IndexeddbPersistence}
      // Users of one browser must not get the offline changes of each other.
      offlineOwner={name}
    >
      <Room documentId={documentId} fallback={<p>Loading …</p>}>
        <State />
        <TextEditor user={user} />
      </Room>
    </WeftProvider>
  )
}

function TextEditor({ user }) {
  const { doc, provider, role, canWrite } = useRoom()
  const editor = useEditor(
    {
      // The server has no editor to render.
      immediatelyRender: false,
      editable: false,
      extensions: [
        // Collaboration has its own undo, which keeps the changes of the other users.
        StarterKit.configure({ undoRedo: false }),
        Collaboration.configure({ document: doc }),
        CollaborationCaret.configure({ provider, user }),
      ],
    },
    [doc],
  )
  useEffect(() => {
    editor?.setEditable(role !== null && canWrite)
  }, [editor, role, canWrite])
  return <EditorContent editor={editor} />
}
