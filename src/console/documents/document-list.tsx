import { useState } from 'preact/hooks'
import type { OrganizationsDocumentsGetDataItem } from '../../client/api/operation-types.ts'
import { useApi, usePagedQuery } from '../api/hooks.ts'
import { href, navigate } from '../routing/route.ts'
import { LocalTime, Select, TextField } from '../ui/controls.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { PagedTable } from '../ui/table.tsx'
import { emptyContent, type RootType, rootTypes } from './content/root-types.ts'
import { consoleUser } from './editor.ts'
import { useSearch } from './fields.tsx'

interface NewDocumentProps {
  /** Undefined: the user enters it, and the document creates the organization. */
  readonly organizationId?: string
}

/** Shows a button that creates a document with one empty editor. Opens the new document. */
export function NewDocument({ organizationId: given }: NewDocumentProps) {
  const api = useApi()
  const [organizationId, setOrganizationId] = useState(given ?? '')
  const [documentId, setDocumentId] = useState('')
  const [documentName, setDocumentName] = useState('')
  const [editorId, setEditorId] = useState('main')
  const [contentKey, setContentKey] = useState('content')
  const [type, setType] = useState<RootType>('text')
  const create = async () => {
    const content = { documentId, editorId, contentKey, type, data: emptyContent[type] }
    await api.call('/v2/crdt/add', { organizationId, ...content, userId: consoleUser.id })
    const named = { organizationId, documents: [{ documentId, documentName }] }
    if (documentName !== '') await api.callBatch('/v2/organizations/documents/update', named)
    navigate('documents', organizationId, documentId, editorId)
  }
  return (
    <ConfirmButton
      action="New document"
      title="New document"
      confirm="Make the document"
      harmless
      act={create}
    >
      {given === undefined && (
        <TextField label="Organization id" value={organizationId} onInput={setOrganizationId} required />
      )}
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
    </ConfirmButton>
  )
}

export function DocumentList({ organizationId }: { readonly organizationId: string }) {
  const api = useApi()
  const [asked, searchField] = useSearch('Search documents')
  const listing = usePagedQuery<OrganizationsDocumentsGetDataItem>('/v2/organizations/documents/get', {
    organizationId,
    ...asked,
  })
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
        <NewDocument organizationId={organizationId} />
      </div>
      {searchField}
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
            ? 'No documents yet. Create one with “New document”, or let an editor open one.'
            : 'No document matches this search.'
        }
      />
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
