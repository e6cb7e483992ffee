import type { OrganizationScope } from '../../directory/organizations/organization-keys.ts'
import type { DocumentAddress } from '../../model/address.ts'

/** Keeps the record of each document. */
export interface DocumentRegistry {
  /** Makes the record unless there is one. @throws ApiError ABORTED while the document is being deleted */
  ensure(scope: OrganizationScope, documentId: string): Promise<void>
  /** Likewise, for an update of a websocket. @throws ApiError also RESOURCE_EXHAUSTED */
  create(address: DocumentAddress): Promise<void>
  /** True while the document, or a folder or organization that contains it, is being deleted. */
  isGoing(scope: OrganizationScope, documentId: string): Promise<boolean>
}
