import { useState } from 'preact/hooks'
import type { OrganizationsDocumentsGetDataItem } from '../../client/api/operation-types.ts'
import { useAction, useApi, usePagedQuery } from '../api/hooks.ts'
import { href, navigate } from '../routing/route.ts'
import { Button, Select, TextField } from '../ui/controls.tsx'
import { ConfirmButton, Dialog } from '../ui/dialog.tsx'
import { Form } from '../ui/form.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { PagedTable } from '../ui/table.tsx'
import { LocalTime } from '../ui/time.tsx'
import { emptyContent, type RootType, rootTypes } from './content/content-text.ts'
import { consoleUser } from './editor.ts'
import { SearchBox, useSearch } from './search-box.tsx'

interface NewDocumentProps {
  readonly organizationId: string
  readonly onClose: () => void
}

/** Shows a form that creates a document with one empty editor. Opens the new document. */
function NewDocumentForm({ organizationId, onClose }: NewDocumentProps) {
  const api = useApi()
  const [documentId, setDocumentId] = useState('')
  const [documentName, setDocumentName] = useState('')
  const [editorId, setEditorId] = useState('main')
  const [contentKey, setContentKey] = useState('content')
  const [type, setType] = useState<RootType>('text')
  const { run, busy, error } = useAction(async () => {
    const content = { documentId, editorId, contentKey, type, data: emptyContent[type] }
    await api.call('/v2/crdt/add', { organizationId, ...content, userId: consoleUser.id })
    const documents = [{ documentId, documentName }]
    if (documentName !== '')
      await api.callBatch('/v2/organizations/documents/update', { organizationId, documents })
    navigate('documents', organizationId, documentId, editorId)
  })
  return (
    <Dialog title="New document" onClose={onClose}>
      <Form label="New document" onSubmit={() => void run()}>
        <TextField label="Document id" value={documentId} onInput={setDocumentId} required />
        <TextField label="Name" value={documentName} onInput={setDocumentName} hint="Optional." />
        <TextField label="Editor id" value={editorId} onInput={setEditorId} required />
        <Select label="Content" value={type} options={rootTypes} onChange={setType} />
        <TextField
          label="Root"
          value={contentKey}
          onInput={setContentKey}
          hint="Name of the shared type, as your editor knows it."
          required
        />
        <ErrorNotice error={error} />
        <p class="row">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={busy}>
            Make the document
          </Button>
        </p>
      </Form>
    </Dialog>
  )
}

export function DocumentList({ organizationId }: { readonly organizationId: string }) {
  const api = useApi()
  const { typed, type, asked } = useSearch()
  const listing = usePagedQuery<OrganizationsDocumentsGetDataItem>('/v2/organizations/documents/get', {
    organizationId,
    ...asked,
  })
  const [isMaking, setIsMaking] = useState(false)
  const remove = async (id: string) => {
    await api.callBatch('/v2/organizations/documents/delete', { organizationId, documentIds: [id] })
    listing.reload()
  }
  return (
    <>
      <p class="path">
        <a href={href('documents')}>Documents</a>
      </p>
      <div class="row between">
        <h1>{organizationId}</h1>
        <Button kind="primary" onClick={() => setIsMaking(true)}>
          New document
        </Button>
      </div>
      <SearchBox label="Search documents" typed={typed} onInput={type} />
      <PagedTable
        caption="Documents"
        listing={listing}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Document', cell: ({ id }) => <a href={href('documents', organizationId, id)}>{id}</a> },
          { title: 'Name', cell: nameOf },
          { title: 'Folder', cell: ({ folderId }) => (folderId === 'root' ? '–' : folderId) },
          { title: 'Access', cell: ({ accessType }) => accessTypes[accessType] ?? accessType },
          { title: 'Last updated', cell: ({ lastUpdated }) => <LocalTime at={lastUpdated} /> },
          {
            title: 'Action',
            cell: ({ id }) => (
              <ConfirmButton
                action="Delete"
                label={`Delete ${id}`}
                title={`Delete ${id}?`}
                confirm="Delete the document"
                act={() => remove(id)}
              >
                <p>
                  This deletes the content of all its editors, its versions, comments and permissions, and
                  disconnects all its users. You cannot undo this.
                </p>
              </ConfirmButton>
            ),
          },
        ]}
        empty={
          asked.search === undefined
            ? 'No documents yet. Make one below, or open one in an editor.'
            : 'No document matches this search.'
        }
      />
      {isMaking && <NewDocumentForm organizationId={organizationId} onClose={() => setIsMaking(false)} />}
    </>
  )
}

const accessTypes: Readonly<Record<string, string>> = {
  public: 'public',
  organizationPrivate: 'organization',
  restricted: 'restricted',
}

const nameOf = ({ documentName, disabled }: OrganizationsDocumentsGetDataItem) => (
  <>
    {documentName} {disabled && <span class="tag bad">disabled</span>}
  </>
)
