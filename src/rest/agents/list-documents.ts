import type { AgentCaller } from '../../core/access/credentials/authenticator.ts'
import { ApiError } from '../../core/base/errors.ts'
import type { DocumentListing, DocumentView } from '../../core/directory/documents/document-views.ts'
import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import { mapInSlices } from '../../core/directory/store/batch.ts'
import type { ListPage } from '../../core/directory/store/list-page.ts'
import { documentAddress } from '../../core/model/address.ts'
import type { Services } from '../services.ts'

/** Limits of one page for an agent: documents in it, documents whose rights are read for it, and reads of the list. */
export const agentListing = { pageSize: 100, checked: 200, reads: 3 } as const

type ListingServices = Pick<Services, 'agents' | 'documents'>

/** Returns the documents on which an agent has a role. */
export async function readableDocuments(
  { agents }: Pick<ListingServices, 'agents'>,
  caller: AgentCaller,
  { organizationId }: OrganizationScope,
  documents: readonly DocumentView[],
): Promise<readonly DocumentView[]> {
  const readable = await mapInSlices(documents, ({ record: { documentId } }) =>
    agents.mayRead(caller, documentAddress(caller.tenant, { organizationId, documentId, editorId: 'main' })),
  )
  return documents.filter((_, index) => readable[index] === true)
}

/**
 * Returns a page of the documents on which an agent has a role, in the order of their ids. The page may have fewer items
 * than requested. An organization or a folder that does not exist has no documents.
 */
export async function listForAgent(
  services: ListingServices,
  caller: AgentCaller,
  scope: OrganizationScope,
  listing: DocumentListing,
): Promise<ListPage<DocumentView>> {
  try {
    const granted = grantedIds(caller, scope)
    return granted === null
      ? await listAll(services, caller, scope, listing)
      : await listGranted(services, caller, scope, listing, granted)
  } catch (error) {
    if (isMissing(error)) return { items: [], next: null }
    throw error
  }
}

/** Returns whether an error means that the organization or the folder of a listing does not exist. */
export const isMissing = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'organization/not-found' || error.code === 'folder/not-found')

/**
 * Returns the ids of the only documents that the token of an agent permits, sorted; null if it permits a folder, the
 * organization or everything.
 */
function grantedIds(
  { identity: { grants } }: AgentCaller,
  { organizationId }: OrganizationScope,
): readonly string[] | null {
  const within = grants?.filter((grant) => grant.organizationId === organizationId) ?? null
  if (within === null || within.some(({ type }) => type !== 'document')) return null
  return [...new Set(within.map(({ id }) => id))].toSorted()
}

async function listGranted(
  services: ListingServices,
  caller: AgentCaller,
  scope: OrganizationScope,
  { after = '', limit, folderId, search }: DocumentListing,
  granted: readonly string[],
): Promise<ListPage<DocumentView>> {
  const ids = granted.filter((id) => id > after)
  const page = ids.slice(0, limit)
  const views = await readableDocuments(services, caller, scope, await services.documents.get(scope, page))
  const items = views.filter(
    ({ record }) =>
      (folderId === undefined || record.folderId === folderId) &&
      (search === undefined || search.isIn(record.documentId, record.documentName)),
  )
  return { items, next: ids.length > page.length ? (page.at(-1) ?? null) : null }
}

async function listAll(
  services: ListingServices,
  caller: AgentCaller,
  scope: OrganizationScope,
  { after, limit, ...listing }: DocumentListing,
): Promise<ListPage<DocumentView>> {
  const items: DocumentView[] = []
  let from = after
  let checked = 0
  for (let reads = 0; ; reads += 1) {
    const size = Math.min(agentListing.pageSize, agentListing.checked - checked)
    if (size === 0 || reads === agentListing.reads) return { items, next: from ?? null }
    const page = await services.documents.list(scope, { ...listing, after: from, limit: size })
    checked += page.items.length
    for (const view of await readableDocuments(services, caller, scope, page.items)) {
      items.push(view)
      const { documentId } = view.record
      const isLast = page.next === null && view === page.items.at(-1)
      if (items.length === limit) return { items, next: isLast ? null : documentId }
    }
    if (page.next === null) return { items, next: null }
    from = page.next
  }
}
