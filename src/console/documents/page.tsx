import type { PageProps } from '../route.ts'
import { DocumentPage } from './document.tsx'
import { DocumentList } from './list.tsx'
import { OrganizationList } from './organizations.tsx'

/** `#/documents`, `…/{organization}`, `…/{document}`, `…/{editor}`, `…/{view of the editor}`. */
export default function Page({ rest }: PageProps) {
  const [organizationId, documentId, editorId, view] = rest
  if (organizationId === undefined) return <OrganizationList />
  if (documentId === undefined) return <DocumentList key={organizationId} organizationId={organizationId} />
  return (
    <DocumentPage
      key={`${organizationId}/${documentId}`}
      organizationId={organizationId}
      documentId={documentId}
      editorId={editorId}
      view={view}
    />
  )
}
