import { useState } from 'preact/hooks'
import type { OrganizationsDocumentsGetDataItem } from '../../client/api/operation-types.ts'
import { useAction, useApi, usePagedQuery } from '../api/hooks.ts'
import { href, navigate } from '../routing/route.ts'
import { Button, LocalTime, Select, TextField } from '../ui/controls.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { PagedTable } from '../ui/table.tsx'
import { emptyContent, type RootType, rootTypes } from './content/root-types.ts'
import { consoleUser } from './editor.ts'
import { useSearch } from './fields.tsx'

interface NewDocumentProps {
  /** Undefined: the user enters it, and the document creates the organization. */
  readonly organizationId?: string
  /** Id of the document to copy. Undefined: the document gets one empty editor. */
  readonly template?: string
}

/** Shows a button that creates a document, and opens it. */
export function NewDocument({ organizationId: given, template }: NewDocumentProps) {
  const api = useApi()
  const [organizationId, setOrganizationId] = useState(given ?? '')
  const [documentId, setDocumentId] = useState('')
  const [documentName, setDocumentName] = useState('')
  const [editorId, setEditorId] = useState('main')
  const [contentKey, setContentKey] = useState('content')
  const [type, setType] = useState<RootType>('text')
  const create = async () => {
    const made = { organizationId, documentId, userId: consoleUser.id }
    const content = { ...made, editorId, contentKey, type, data: emptyContent[type] }
    if (template === undefined) await api.call('/v2/crdt/add', content)
    else for await (const _ of api.pages('/v2/crdt/copy', { ...made, from: { documentId: template } }));
    const named = { organizationId, documents: [{ documentId, documentName }] }
    if (documentName !== '') await api.callBatch('/v2/organizations/documents/update', named)
    navigate('documents', organizationId, documentId, ...(template === undefined ? [editorId] : []))
  }
  const title = template === undefined ? 'New document' : 'New from template'
  return (
    <ConfirmButton action={title} title={title} confirm="Make the document" harmless act={create}>
      {given === undefined && (
        <TextField label="Organization id" value={organizationId} onInput={setOrganizationId} required />
      )}
      <TextField label="Document id" value={documentId} onInput={setDocumentId} required />
      <TextField label="Name" value={documentName} onInput={setDocumentName} hint="Optional." />
      {template === undefined && (
        <>
          <TextField label="Editor id" value={editorId} onInput={setEditorId} required />
          <Select label="Content" value={type} options={rootTypes} onChange={setType} />
          <TextField
            label="Root"
            value={contentKey}
            onInput={setContentKey}
            hint="Name of the shared type, as your editor knows it."
            required
          />
        </>
      )}
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
  const mark = useAction(async (documentId: string, isTemplate: boolean) => {
    // The metadata is replaced as a whole, and the application may have changed it.
    const [read] = await api.call<readonly OrganizationsDocumentsGetDataItem[]>(
      '/v2/organizations/documents/get',
      { organizationId, documentIds: [documentId] },
    )
    const documents = [{ documentId, metadata: { ...read?.metadata, template: isTemplate || undefined } }]
    await api.callBatch('/v2/organizations/documents/update', { organizationId, documents })
    listing.reload()
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
      <ErrorNotice error={mark.error} />
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
            title: 'Template',
            cell: ({ id, metadata }) => {
              const isTemplate = metadata.template === true
              const action = isTemplate ? 'Not a template' : 'Use as template'
              return (
                <div class="row">
                  <Button label={`${action}: ${id}`} onClick={() => void mark.run(id, !isTemplate)}>
                    {action}
                  </Button>
                  {isTemplate && <NewDocument {...{ organizationId, template: id }} />}
                </div>
              )
            },
          },
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
                  disconnects all its users.
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
