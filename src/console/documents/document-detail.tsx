import { useState } from 'preact/hooks'
import { useQuery } from '../api/hooks.ts'
import { href, navigate } from '../routing/route.ts'
import { Button, TextField } from '../ui/controls.tsx'
import { lazy } from '../ui/lazy.tsx'
import { EmptyNotice, ErrorNotice } from '../ui/notice.tsx'
import { Tabs } from '../ui/tabs.tsx'

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
    <Tabs
      label="Editors"
      current={href('documents', organizationId, documentId, chosen ?? '')}
      tabs={editors.map((id) => [href('documents', organizationId, documentId, id), id] as const)}
    />
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

/** Shows an editor. No other page needs Yjs, so its code is loaded on demand. */
const Editor = lazy(async () => (await import('./editor-detail.tsx')).EditorDetail)
