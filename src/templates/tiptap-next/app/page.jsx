import { demoUser } from '../demo-sign-in'
import { SharedEditor } from './shared-editor'

export default async function Page({ searchParams }) {
  const query = new URLSearchParams(await searchParams)
  const user = demoUser(query)
  if (user === null) return <SignIn />
  return <SharedEditor name={user.name} documentId={query.get('document') ?? 'welcome'} />
}

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
