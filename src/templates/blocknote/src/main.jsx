import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { SharedEditor } from './shared-editor'
import './style.css'
import './editor.css'

const query = new URLSearchParams(location.search)
const name = query.get('name')

createRoot(document.getElementById('root')).render(
  <StrictMode>
    {name ? <SharedEditor name={name} documentId={query.get('document') ?? 'welcome'} /> : <SignIn />}
  </StrictMode>,
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
