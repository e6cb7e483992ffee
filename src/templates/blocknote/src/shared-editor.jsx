import { BlockNoteEditor } from '@blocknote/core'
import { withCollaboration } from '@blocknote/core/yjs'
import { BlockNoteView } from '@blocknote/mantine'
import '@blocknote/mantine/style.css'
import { useEffect, useMemo, useReducer, useState } from 'react'
import { Room, useRoom, WeftProvider } from 'weft-server/react'
import { blockNoteSuggestions, SuggestionStore } from 'weft-server/suggestions'
import { IndexeddbPersistence } from 'y-indexeddb'
import { Comments } from './comments'
import { addFirstBlock } from './first-block'
import { State } from './state'

const colors = ['#f6a5a5', '#f6d6a5', '#a5f6c9', '#a5e0f6', '#b5a5f6', '#f6a5e0']
const colorOf = (name) =>
  colors[[...name.toLowerCase()].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % colors.length]

export function SharedEditor({ name, documentId }) {
  const user = { name, color: colorOf(name) }
  const suggestions = useMemo(
    () => new SuggestionStore(`/weft${location.search}`, { organizationId: 'demo', documentId }, colorOf),
    [documentId],
  )
  const [editorId, setEditorId] = useState('main')
  return (
    <WeftProvider
      url="/collab"
      organizationId="demo"
      // The query has the name for the demo sign-in.
      endpoint={`/weft${location.search}`}
      user={user}
      offline={IndexeddbPersistence}
      // Users of one browser must not get the offline changes of each other.
      offlineOwner={name}
    >
      <Room documentId={documentId} editorId={editorId} fallback={<p>Loading …</p>}>
        <State />
        <SuggestingSwitch suggestions={suggestions} editorId={editorId} onSwitch={setEditorId} />
        <LoadedEditor user={user} suggestions={suggestions} editorId={editorId} />
      </Room>
    </WeftProvider>
  )
}

/** While it is on, the user edits a branch of the document. The changes are suggestions for the other users. */
function SuggestingSwitch({ suggestions, editorId, onSwitch }) {
  const { role } = useRoom()
  const [problem, setProblem] = useState(null)
  const isSuggesting = editorId !== 'main'
  const change = () =>
    suggestions.editorFor(!isSuggesting).then(onSwitch, ({ message }) => setProblem(message))
  if (role === 'viewer') return null
  return (
    <label id="suggesting">
      <input type="checkbox" checked={isSuggesting} onChange={change} /> Suggesting
      <span role="alert">{problem}</span>
    </label>
  )
}

/** Shows the editor from the moment at which the content and the role are known. */
function LoadedEditor(props) {
  const { synced, role, canWrite } = useRoom()
  const [isLoaded, setIsLoaded] = useState(false)
  if (!isLoaded && synced && role !== null) setIsLoaded(true)
  return isLoaded ? <TextEditor {...props} canWrite={canWrite} /> : null
}

function TextEditor({ user, suggestions, editorId, canWrite }) {
  const { doc, provider } = useRoom()
  useEffect(() => suggestions.listenTo(provider), [suggestions, provider])
  // The undo of BlockNote ends when its editor is unmounted. If React or BlockNote mounts an editor a second time, as
  // StrictMode does in development, a new editor replaces it.
  const [replacements, replace] = useReducer((count) => count + 1, 0)
  const editor = useMemo(() => {
    if (canWrite) addFirstBlock(doc)
    const fragment = doc.getXmlFragment('blocknote')
    const created = BlockNoteEditor.create({
      ...withCollaboration({
        collaboration: { fragment, provider, user },
        extensions: [blockNoteSuggestions(suggestions, editorId)],
      }),
      // The first text of a user would add an empty block below it. Its undo would remove that block with the text
      // that other users have written into it.
      trailingBlock: false,
    })
    let mounts = 0
    created.onMount(() => {
      mounts += 1
      if (mounts === 2) replace()
    })
    return created
  }, [doc, canWrite, replacements])
  return (
    <main>
      <BlockNoteView editor={editor} theme="light" editable={canWrite} />
      <Comments editor={editor} />
    </main>
  )
}
