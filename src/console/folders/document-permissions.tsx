import { callBatch } from '../api/batch-results.ts'
import { useApi, useQuery } from '../api/hooks.ts'
import type { AccessTypeName } from '../permissions/permission.ts'
import { href } from '../routing/route.ts'
import { ErrorNotice } from '../ui/notice.tsx'
import { AccessForm } from './access-form.tsx'
import { type FolderDetailProps, FolderPermissions } from './folder-detail.tsx'
import { MoveForm } from './folder-forms.tsx'
import { moveTargets, root } from './folder-names.ts'

interface Document {
  readonly id: string
  readonly documentName: string
  readonly accessType: AccessTypeName
  readonly folderId: string
}

/** Shows the folder and the permissions of a document. */
export function DocumentPermissions(props: FolderDetailProps & { readonly documentId: string }) {
  const { organizationId, documentId, folders } = props
  const api = useApi()
  const path = '/v2/organizations/documents/get'
  const { data, error, reload } = useQuery<readonly Document[]>(path, {
    organizationId,
    documentIds: [documentId],
  })
  if (data === null) return error === null ? <p class="hint">Reading…</p> : <ErrorNotice error={error} />
  const [document] = data
  if (document === undefined) return <p>This document does not exist any more.</p>
  const documentIds = [documentId]
  const folderId = document.folderId === '' ? root : document.folderId
  return (
    <>
      <h2>{document.documentName === '' ? documentId : document.documentName}</h2>
      <p>
        <a href={href('documents', organizationId, documentId)}>Content and history</a>
      </p>
      <section class="card" aria-label="This document">
        <MoveForm
          label="Folder it is in"
          value={folderId}
          places={moveTargets(folders)}
          onMove={async (to) => {
            await callBatch(api, '/v2/organizations/documents/move', {
              organizationId,
              documentIds,
              folderId: to,
            })
            reload()
          }}
        />
        <AccessForm
          accessType={document.accessType}
          onAccess={async (access) => {
            const data = { organizationId, documentIds, ...access }
            await callBatch(api, '/v2/organizations/documents/access/update', data)
            reload()
          }}
        />
      </section>
      <FolderPermissions resource={{ type: 'document', id: documentId, organizationId }} />
    </>
  )
}
