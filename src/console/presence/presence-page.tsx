import { ConnectionTabs } from '../connections/connection-tabs.tsx'
import { EditorLink } from '../documents/editor-tabs.tsx'
import { busyEditors, useLiveConnections } from '../overview/live-groups.ts'
import { lazy } from '../ui/lazy.tsx'
import { EmptyNotice, ErrorNotice } from '../ui/notice.tsx'

/** Part of the chunk of the document page, which has all the code that it needs. */
const EditorUsers = lazy(async () => (await import('../documents/page/document-page.tsx')).EditorUsers)

/** Maximum number of editors, because the page opens a connection to each. */
const editorsMax = 10

/** Page `#/presence`: the connected users by document, with their places in it and the times of their last changes. */
export default function PresencePage() {
  const { connections, error } = useLiveConnections()
  const editors = busyEditors(connections ?? [])
  return (
    <>
      <h1>Who is where</h1>
      <ConnectionTabs current="presence" />
      <ErrorNotice error={error} />
      {connections?.length === 0 && <EmptyNotice>No user is connected.</EmptyNotice>}
      {editors.slice(0, editorsMax).map(({ organizationId, documentId, editorId, users }) => {
        const address = { organizationId, documentId, editorId }
        return (
          <section key={JSON.stringify(address)} class="card spaced" aria-label={documentId}>
            <EditorLink {...address} />
            <EditorUsers address={address} users={users} />
          </section>
        )
      })}
      {editors.length > editorsMax && (
        <p class="hint">and {(editors.length - editorsMax).toLocaleString()} more</p>
      )}
    </>
  )
}
