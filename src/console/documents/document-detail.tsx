import { useState } from 'preact/hooks'
import { useAsync, useQuery } from '../api/hooks.ts'
import { href, navigate } from '../routing/route.ts'
import { Button, TextField } from '../ui/controls.tsx'
import { EmptyNotice, ErrorNotice } from '../ui/notice.tsx'

interface DocumentPageProps {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string | undefined
  readonly view: string | undefined
}

/** Shows a document with the list of its editors. One editor is open. */
export function DocumentDetail({ organizationId, documentId, editorId, view }: DocumentPageProps) {
  const editors = useEditors(organizationId, documentId)
  const { data: names } = useQuery<readonly { documentName: string }[]>('/v2/organizations/documents/get', {
    organizationId,
    documentIds: [documentId],
  })
  const chosen = editorId ?? editors.data?.[0]
  return (
    <>
      <p class="path">
        <a href={href('documents')}>Documents</a> /{' '}
        <a href={href('documents', organizationId)}>{organizationId}</a>
      </p>
      <h1>{names?.[0]?.documentName || documentId}</h1>
      <Editors {...{ organizationId, documentId, chosen }} editors={editors.data ?? []} />
      {editors.error !== null && editorId === undefined && (
        <NoEditors
          error={editors.error}
          connect={href('connect', organizationId, documentId, 'main')}
          onOpen={(id) => navigate('documents', organizationId, documentId, id)}
        />
      )}
      {chosen !== undefined && (
        <Editor
          key={chosen}
          address={{ organizationId, documentId, editorId: chosen }}
          view={view ?? 'live'}
        />
      )}
    </>
  )
}

const useEditors = (organizationId: string, documentId: string) => {
  const question = { organizationId, documentId, format: 'roots' }
  const { data, error } = useQuery<readonly { readonly id: string }[]>('/v2/crdt/get', question)
  return { data: data?.map(({ id }) => id) ?? null, error }
}

interface EditorsProps {
  readonly organizationId: string
  readonly documentId: string
  readonly chosen: string | undefined
  readonly editors: readonly string[]
}

function Editors({ organizationId, documentId, chosen, editors }: EditorsProps) {
  if (editors.length < 2 && (editors[0] ?? chosen) === chosen)
    return chosen === undefined ? null : <p class="hint">Editor {chosen}</p>
  return (
    <nav aria-label="Editors" class="tabs">
      {editors.map((id) => (
        <a
          key={id}
          class="tab"
          href={href('documents', organizationId, documentId, id)}
          aria-current={id === chosen ? 'page' : undefined}
        >
          {id}
        </a>
      ))}
    </nav>
  )
}

type NoEditorsProps = {
  readonly error: Parameters<typeof ErrorNotice>[0]['error']
  /** Address of the page that explains how to connect an editor. */
  readonly connect: string
  readonly onOpen: (editorId: string) => void
}

function NoEditors({ error, connect, onOpen }: NoEditorsProps) {
  const [id, setId] = useState('')
  return (
    <>
      {error?.status === 'NOT_FOUND' ? (
        <EmptyNotice>
          This document has no content yet. <a href={connect}>Connect an editor</a> to write some.
        </EmptyNotice>
      ) : (
        <ErrorNotice error={error} />
      )}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          if (id !== '') onOpen(id)
        }}
      >
        <TextField label="Editor id" value={id} onInput={setId} hint="Open an editor by its id." />
        <Button type="submit">Open</Button>
      </form>
    </>
  )
}

type EditorModule = typeof import('./editor-detail.tsx')

/** Shows an editor. Loads its code on demand, because no other page needs Yjs. */
function Editor(props: Parameters<EditorModule['EditorDetail']>[0]) {
  const { data, error } = useAsync<EditorModule>(() => import('./editor-detail.tsx'), 'editor')
  if (error !== null) return <p role="alert">The server did not return this page.</p>
  return data === null ? <p class="hint">Reading…</p> : <data.EditorDetail {...props} />
}
