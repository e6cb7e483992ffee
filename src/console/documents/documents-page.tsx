import type { OrganizationsGetDataItem } from '../../client/api/operation-types.ts'
import type { ApiCallError } from '../api/client.ts'
import { usePagedQuery, useQuery } from '../api/hooks.ts'
import { href, navigate, type PageProps } from '../routing/route.ts'
import { LocalTime, Tabs } from '../ui/controls.tsx'
import { OpenForm } from '../ui/form.tsx'
import { lazy } from '../ui/lazy.tsx'
import { EmptyNotice, ErrorNotice } from '../ui/notice.tsx'
import { PagedTable } from '../ui/table.tsx'
import { DocumentList, NewDocument } from './document-list.tsx'
import { DocumentListLinks } from './editor-tabs.tsx'
import { useSearch } from './fields.tsx'

interface DocumentPageProps {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string | undefined
  readonly view: string | undefined
}

/** Shows a document with the list of its editors. One editor is open. */
function DocumentDetail({ organizationId, documentId, editorId, view }: DocumentPageProps) {
  const question = { organizationId, documentId, format: 'roots' }
  const { data, error } = useQuery<readonly { readonly id: string }[]>('/v2/crdt/get', question)
  const editors = data?.map(({ id }) => id) ?? []
  const { data: names } = useQuery<readonly { documentName: string }[]>('/v2/organizations/documents/get', {
    organizationId,
    documentIds: [documentId],
  })
  const chosen = editorId ?? editors[0]
  return (
    <>
      <DocumentListLinks organizationId={organizationId} />
      <h1>{names?.[0]?.documentName || documentId}</h1>
      <Editors {...{ organizationId, documentId, chosen, editors }} />
      {error !== null && editorId === undefined && (
        <NoEditors
          error={error}
          connect={href('connect', organizationId, documentId, 'main')}
          onOpen={(id) => navigate('documents', organizationId, documentId, id)}
        />
      )}
      {chosen !== undefined && (
        <Editor
          key={chosen}
          address={{ organizationId, documentId, editorId: chosen }}
          view={view ?? 'document'}
        />
      )}
    </>
  )
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

interface NoEditorsProps {
  readonly error: ApiCallError
  /** Address of the page that explains how to connect an editor. */
  readonly connect: string
  readonly onOpen: (editorId: string) => void
}

const NoEditors = ({ error, connect, onOpen }: NoEditorsProps) => (
  <>
    {error.status === 'NOT_FOUND' ? (
      <EmptyNotice>
        This document has no content yet. <a href={connect}>Connect an editor</a> to write some.
      </EmptyNotice>
    ) : (
      <ErrorNotice error={error} />
    )}
    <OpenForm label="Editor id" hint="Open an editor by its id." onOpen={onOpen} />
  </>
)

/** Shows an editor. No other page needs Yjs, so its code is loaded on demand. */
const Editor = lazy(async () => (await import('./editor-detail.tsx')).EditorDetail)

/** Lets the user choose an organization. */
function OrganizationList() {
  const [asked, searchField] = useSearch('Search organizations')
  const listing = usePagedQuery<OrganizationsGetDataItem>('/v2/organizations/get', asked)
  return (
    <>
      <h1>Documents</h1>
      <p>Documents belong to an organization: choose one.</p>
      {searchField}
      <PagedTable
        caption="Organizations"
        listing={listing}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Organization', cell: ({ id }) => <a href={href('documents', id)}>{id}</a> },
          { title: 'Name', cell: ({ organizationName }) => organizationName },
          { title: 'Last updated', cell: ({ lastUpdated }) => <LocalTime at={lastUpdated} /> },
        ]}
        empty={
          asked.search === undefined ? (
            <>
              No organizations yet. The first document of an organization creates it. <NewDocument />
            </>
          ) : (
            'No organization matches this search.'
          )
        }
      />
      {/* The organization need not exist yet. */}
      <div class="card aside-form">
        <OpenForm label="Organization id" onOpen={(id) => navigate('documents', id)} />
      </div>
    </>
  )
}

/**
 * Shows the page `#/documents/{organization}/{document}/{editor}/{view of the editor}`. All parts of the
 * address after `#/documents` are optional.
 */
export default function DocumentsPage({ rest }: PageProps) {
  const [organizationId, documentId, editorId, view] = rest
  if (organizationId === undefined) return <OrganizationList />
  if (documentId === undefined) return <DocumentList key={organizationId} organizationId={organizationId} />
  return (
    <DocumentDetail
      key={`${organizationId}/${documentId}`}
      organizationId={organizationId}
      documentId={documentId}
      editorId={editorId}
      view={view}
    />
  )
}
