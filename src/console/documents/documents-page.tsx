import type { OrganizationsGetDataItem } from '../../client/api/operation-types.ts'
import { usePagedQuery } from '../api/hooks.ts'
import { href, navigate, type PageProps } from '../routing/route.ts'
import { OpenForm } from '../ui/form.tsx'
import { PagedTable } from '../ui/table.tsx'
import { LocalTime } from '../ui/time.tsx'
import { DocumentDetail } from './document-detail.tsx'
import { DocumentList } from './document-list.tsx'
import { useSearch } from './use-search.tsx'

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
          asked.search === undefined
            ? 'No organizations yet. The first document of an organization creates it.'
            : 'No organization matches this search.'
        }
      />
      {/* The organization need not exist yet. */}
      <div class="card aside-form">
        <OpenForm label="OrganizationsGetDataItem id" onOpen={(id) => navigate('documents', id)} />
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
