import type { Clock } from '../../base/clock.ts'
import { TtlCache } from '../../base/ttl-cache.ts'
import { type BranchRecord, findBranch } from '../../directory/branches/branch-records.ts'
import { folderPath } from '../../directory/documents/folder-tree.ts'
import {
  keys,
  type OrganizationScope,
  organizationPart,
  rootFolderId,
} from '../../directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../../directory/organizations/organization-store.ts'
import type { DirectoryReader } from '../../directory/store/directory-reader.ts'
import {
  type AccessType,
  type DocumentRecord,
  documentRecordType,
  type OrganizationRecord,
  organizationRecordType,
} from '../../directory/store/records.ts'
import type { DocumentAddress } from '../../model/address.ts'
import { keyName } from '../../store/key-encoding.ts'
import { checkedRecord } from '../../store/stored-record.ts'
import type { AccessChangeFeed } from '../access-change-feed.ts'
import {
  documentResource,
  folderResource,
  type GrantSelector,
  noAccess,
  organizationResource,
  type ResourceAccess,
  UserAccess,
} from './user-access.ts'

/** Maximum number of cached organizations. */
const cachedOrganizationsMax = 10_000

/**
 * Caches whether an organization has a group with members. If it has none, the groups of a user need not be
 * read. This saves a scan for each connection. Changes take effect immediately.
 */
class OrganizationsWithGroups {
  readonly #cache: TtlCache<boolean>

  constructor(news: AccessChangeFeed, clock: Clock) {
    this.#cache = new TtlCache(clock, news.keepMs, cachedOrganizationsMax)
    news.onChange((change) => {
      if (change === null) this.#cache.forgetAll()
      else this.#cache.forget(nameOf(change.scope))
    })
  }

  isIn(scope: OrganizationScope, reader: DirectoryReader): Promise<boolean> {
    return this.#cache.get(nameOf(scope), async () => {
      const found = await reader.scan({ prefix: keys.groupsOfAll, limit: 1 })
      return found.length > 0
    })
  }
}

const nameOf = (scope: OrganizationScope): string => keyName(organizationPart(scope))

/**
 * Maximum number of attempts to read a document. If the folder of the document is missing, either the
 * document is being removed, or it was moved during the read. Another attempt distinguishes the two cases.
 */
const attemptsMax = 3

/**
 * Selects all grants, including weaker grants that expire later: a weaker grant decides when the stronger
 * ones have expired.
 */
const chooseAll: GrantSelector = (grants) => grants

/**
 * The data of the directory about one user and one document, at one moment. `roleOn` computes the role of the
 * user from this data.
 */
export interface DocumentAccess extends ResourceAccess {
  /** `deleted`: the document, an ancestor folder or the organization is being removed. */
  readonly state: 'open' | 'disabled' | 'deleted'
  /** Ids of the folders that contain the document, nearest first. */
  readonly folderIds: readonly string[]
}

/** The access that every user has to a public document on which there are no grants. */
export const publicAccess: DocumentAccess = { state: 'open', folderIds: [], levels: [], member: [] }

/**
 * Reads the access of users from the directory. A document without a record has the default access type. If a
 * document is being deleted, no user has access to it.
 */
export class AccessReader {
  readonly #store: OrganizationStore
  readonly #grouped: OrganizationsWithGroups
  readonly #defaultAccess: AccessType

  /**
   * @param news reports access changes. If a listener reads access again after a change, register it after
   * this constructor has run; otherwise it reads outdated groups
   * @param defaultAccess access type of documents without a record
   */
  constructor(store: OrganizationStore, news: AccessChangeFeed, clock: Clock, defaultAccess: AccessType) {
    this.#store = store
    this.#grouped = new OrganizationsWithGroups(news, clock)
    this.#defaultAccess = defaultAccess
  }

  async read(scope: OrganizationScope, documentId: string, userId: string): Promise<DocumentAccess> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const reader = this.#store.read(scope)
      const { document, organization, isGranted } = await readRecords(reader, scope, documentId, userId)
      if (document?.deleting === true || organization?.deleting === true) break
      const missing = { folderId: rootFolderId, disabled: false, accessType: this.#defaultAccess }
      const state = document ?? missing
      if (!isGranted && isOrdinary(state) && !(await this.#grouped.isIn(scope, reader))) return publicAccess
      const folders = await folderPath(reader, state.folderId)
      if (folders === null) continue
      const places = [
        documentResource(documentId, state),
        ...folders.map(folderResource),
        organizationResource(scope),
      ]
      const access = await UserAccess.open({
        reader,
        userId,
        choose: chooseAll,
        isGrouped: () => this.#grouped.isIn(scope, reader),
      })
      return {
        state: state.disabled ? 'disabled' : 'open',
        folderIds: folders.map(({ folderId }) => folderId),
        ...(await access.at(places)),
      }
    }
    return { state: 'deleted', folderIds: [], ...noAccess }
  }

  /** Returns the branch at an address; null if the editor is not a branch. */
  readBranch(address: DocumentAddress): Promise<BranchRecord | null> {
    return findBranch(this.#store.read(address), address.documentId, address.editorId)
  }
}

interface Records {
  readonly document: DocumentRecord | null
  readonly organization: OrganizationRecord | null
  /** True if the user has a grant on the document or the organization. */
  readonly isGranted: boolean
}

/** Fetches the records that every connection needs, in one read. The reader caches the records. */
async function readRecords(
  reader: DirectoryReader,
  { organizationId }: OrganizationScope,
  documentId: string,
  userId: string,
): Promise<Records> {
  const user = { type: 'user', id: userId } as const
  const documentKey = keys.document(documentId)
  const [document = null, organization = null, ...grants] = await reader.getAll([
    documentKey,
    keys.organization,
    keys.grant({ type: 'document', id: documentId }, user),
    keys.grant({ type: 'organization', id: organizationId }, user),
  ])
  return {
    document: document && checkedRecord(documentRecordType, documentKey, document),
    organization: organization && checkedRecord(organizationRecordType, keys.organization, organization),
    isGranted: grants.some((grant) => grant !== null),
  }
}

/**
 * Returns whether the document is in no folder, enabled and public, like most documents. The access of a user
 * to such a document depends only on grants.
 */
function isOrdinary({
  folderId,
  disabled,
  accessType,
}: Pick<DocumentRecord, 'folderId' | 'disabled' | 'accessType'>): boolean {
  return folderId === rootFolderId && !disabled && (accessType === null || accessType === 'public')
}
