import { createRoot } from 'react-dom/client'
import { SharedEditor } from './shared-editor'
import './style.css'
import './editor.css'

const query = new URLSearchParams(location.search)
const name = query.get('name')

// Without StrictMode: it mounts each editor twice in development, and the undo of BlockNote ends with the first time.
createRoot(document.getElementById('root')).render(
  name ? <SharedEditor name={name} documentId={query.get('document') ?? 'welcome'} /> : <SignIn />,
)

function SignIn() {
  return (
    <form>
      <label>
        Your name <input name="name" required maxLength={50} autoComplete="off" />
      </label>{' '}
      <button type="submit">Open the document</button>
      <p>This sign-in is for the demo only: it has no password.</p>
    </form>
  )
}
