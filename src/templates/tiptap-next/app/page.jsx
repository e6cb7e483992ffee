import { SharedEditor } from './shared-editor'

export default async function Page({ searchParams }) {
  const query = new URLSearchParams(await searchParams)
  const name = query.get('name')
  if (!name) return <SignIn />
  // The endpoint needs the query for the demo sign-in.
  return (
    <SharedEditor name={name} documentId={query.get('document') ?? 'welcome'} endpoint={`/weft?${query}`} />
  )
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
