import type { PageProps } from '../routing/route.ts'
import { DocumentDetail } from './document-detail.tsx'
import { DocumentList } from './list/document-list.tsx'
import { OrganizationList } from './list/organization-list.tsx'

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
