import type { PageProps } from '../routing/route.ts'
import { DocumentDetail } from './document-detail.tsx'
import { DocumentList } from './list/document-list.tsx'
import { OrganizationList } from './list/organization-list.tsx'

/** Page `#/documents`, `…/{organization}`, `…/{document}`, `…/{editor}`, or `…/{view of the editor}`. */
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
