import { useApi, useCall } from '../calls.ts'
import { callForAll } from '../items.ts'
import type { AccessType } from '../rights/rights.ts'
import { href } from '../route.ts'
import { Problem } from '../ui/notice.tsx'
import { AccessForm } from './access-form.tsx'
import { Permissions, type PlaceProps } from './folder.tsx'
import { MoveForm } from './folder-forms.tsx'
import { places, root } from './tree.ts'

interface Document {
  readonly id: string
  readonly documentName: string
  readonly accessType: AccessType
  readonly folderId: string
}

/** Where a document is, and who may do what with it. */
export function DocumentPlace(props: PlaceProps & { readonly documentId: string }) {
  const { organizationId, documentId, folders } = props
  const api = useApi()
  const path = '/v2/organizations/documents/get'
  const { data, error, reload } = useCall<readonly Document[]>(path, {
    organizationId,
    documentIds: [documentId],
  })
  if (data === null) return error === null ? <p class="hint">Reading…</p> : <Problem error={error} />
  const [document] = data
  if (document === undefined) return <p>There is no such document any more.</p>
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
          places={places(folders)}
          onMove={async (to) => {
            await callForAll(api, '/v2/organizations/documents/move', {
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
            await callForAll(api, '/v2/organizations/documents/access/update', data)
            reload()
          }}
        />
      </section>
      <Permissions resource={{ type: 'document', id: documentId, organizationId }} />
    </>
  )
}
