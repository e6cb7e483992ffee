import type { Clock } from '../clock.ts'
import { folderPath } from '../directory/folder-tree.ts'
import { keys, type OrganizationScope, rootFolderId } from '../directory/organization-keys.ts'
import type { OrganizationStore } from '../directory/organization-store.ts'
import type { Reader } from '../directory/reader.ts'
import type { DocumentRecord, OrganizationRecord } from '../directory/records.ts'
import type { AccessNews } from './access-news.ts'
import { Grouped } from './grouped.ts'
import { documentPlace, folderPlace, organizationPlace } from './places.ts'
import { type Access, type Choice, closed, UserAccess } from './user-access.ts'

/** A document whose folder is gone is being removed, or was moved while it was read: the latter shows when read again. */
const attemptsMax = 3

/** Those that end later, or are weaker, decide when the others have ended. */
const chooseAll: Choice = (grants) => grants

/** What the directory says about one user and one document, read at one moment; `roleOn` makes a role of it. */
export interface DocumentAccess extends Access {
  /** `deleted`: it is being removed, or what it is in. */
  readonly state: 'open' | 'disabled' | 'deleted'
  /** The folders that the document is in, the nearest first. */
  readonly folderIds: readonly string[]
}

/** What is known where the directory knows nothing: everything is public. */
export const publicAccess: DocumentAccess = { state: 'open', folderIds: [], levels: [], member: [] }

/**
 * Reads what the directory says about access. A document, or organization, without a record is public; one that is
 * being removed is closed.
 */
export class AccessReader {
  readonly #store: OrganizationStore
  readonly #grouped: Grouped

  /** @param news to be listened to only then by those who read again when they are told */
  constructor(store: OrganizationStore, news: AccessNews, clock: Clock) {
    this.#store = store
    this.#grouped = new Grouped(news, clock)
  }

  async read(scope: OrganizationScope, documentId: string, userId: string): Promise<DocumentAccess> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const reader = this.#store.read(scope)
      const { document, organization, isGranted } = await readRecords(reader, scope, documentId, userId)
      if (document?.deleting === true || organization?.deleting === true) break
      if (!isGranted && isOrdinary(document) && !(await this.#grouped.isIn(scope, reader)))
        return publicAccess
      const folders = await folderPath(reader, document?.folderId ?? rootFolderId)
      if (folders === null) continue
      const places = [
        documentPlace(documentId, document),
        ...folders.map(folderPlace),
        organizationPlace(scope),
      ]
      const access = await UserAccess.open({
        reader,
        userId,
        choose: chooseAll,
        isGrouped: () => this.#grouped.isIn(scope, reader),
      })
      return {
        state: document?.disabled === true ? 'disabled' : 'open',
        folderIds: folders.map(({ folderId }) => folderId),
        ...(await access.at(places)),
      }
    }
    return { state: 'deleted', folderIds: [], ...closed }
  }
}

interface Records {
  readonly document: DocumentRecord | null
  readonly organization: OrganizationRecord | null
  /** Is the user granted anything on them? */
  readonly isGranted: boolean
}

/** Reads at once what is asked for at every connection; the reader remembers it. */
async function readRecords(
  reader: Reader,
  { organizationId }: OrganizationScope,
  documentId: string,
  userId: string,
): Promise<Records> {
  const user = { type: 'user', id: userId } as const
  const [document = null, organization = null, ...grants] = await reader.getAll<object>([
    keys.document(documentId),
    keys.organization,
    keys.grant({ type: 'document', id: documentId }, user),
    keys.grant({ type: 'organization', id: organizationId }, user),
  ])
  return {
    document: document as DocumentRecord | null,
    organization: organization as OrganizationRecord | null,
    isGranted: grants.some((grant) => grant !== null),
  }
}

/** In no folder, enabled, and for everybody: as most documents are. Then only grants could say anything else. */
function isOrdinary(document: DocumentRecord | null): boolean {
  if (document === null) return true
  const { folderId, disabled, accessType } = document
  return folderId === rootFolderId && !disabled && (accessType === null || accessType === 'public')
}
