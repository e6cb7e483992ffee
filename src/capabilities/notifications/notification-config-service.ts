import { ApiError } from '../../core/base/errors.ts'
import { findMissing } from '../../core/directory/documents/resource-lookup.ts'
import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import {
  type OrganizationStore,
  organizationOf,
} from '../../core/directory/organizations/organization-store.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import { notificationKeys as keys } from './notification-keys.ts'
import {
  effectiveConfig,
  type NotificationConfig,
  notificationConfigType,
  putConfig,
} from './notification-records.ts'

/** Maximum number of configs that one commit writes. */
const entriesAtOnce = 500

/** Id of the document to which a config applies; null for the config of the organization. */
type ConfigScope = string | null

/** The notification config of a user in one scope. */
interface ConfigEntry {
  readonly documentId: ConfigScope
  /** The config that was set in this scope. */
  readonly config: NotificationConfig
  /**
   * The config that takes effect. For each channel, the level of this scope takes precedence, then the level
   * of the organization, then the default.
   */
  readonly effective: Required<NotificationConfig>
}

/**
 * Manages the notification configs of users. The users need not belong to the organization. Every method
 * throws ApiError NOT_FOUND if the organization or a document does not exist.
 */
export class NotificationConfigService {
  readonly #store: OrganizationStore

  constructor(store: OrganizationStore) {
    this.#store = store
  }

  /**
   * Sets the given channels for each user in each scope. Absent channels stay unchanged. All scopes of one
   * user are changed in one commit. If the call is interrupted, it can be repeated. Skips documents that do not
   * exist, and returns their ids.
   */
  async set(
    scope: OrganizationScope,
    userIds: readonly string[],
    places: readonly ConfigScope[],
    config: NotificationConfig,
  ): Promise<ReadonlySet<string>> {
    const users = [...new Set(userIds)]
    const missing = new Set<string>()
    const usersAtOnce = Math.max(1, Math.floor(entriesAtOnce / places.length))
    for (let at = 0; at < users.length; at += usersAtOnce) {
      const slice = users.slice(at, at + usersAtOnce)
      await this.#store.change(scope, async (transaction) => {
        for (const id of await missingDocuments(transaction, places)) missing.add(id)
        const there = places.filter((documentId) => documentId === null || !missing.has(documentId))
        const entries = slice.flatMap((userId) => there.map((documentId) => ({ userId, documentId })))
        await transaction.getAll(entries.map(({ userId, documentId }) => keys.config(userId, documentId)))
        for (const entry of entries) await putConfig(transaction, entry, config)
      })
    }
    return missing
  }

  /** Returns the configs of a user for the given scopes, in the order of the scopes. */
  async get(
    scope: OrganizationScope,
    userId: string,
    places: readonly ConfigScope[],
  ): Promise<readonly ConfigEntry[]> {
    const reader = this.#store.read(scope)
    await checkPlaces(reader, places)
    const ofOrganization = await reader.get(keys.config(userId, null), notificationConfigType)
    const found = await reader.getAll(
      places.map((place) => keys.config(userId, place)),
      notificationConfigType,
    )
    return places.map((documentId, index) => {
      const config = found[index] ?? {}
      return { documentId, config, effective: effectiveConfig(ofOrganization, config) }
    })
  }
}

/** Returns the ids of the documents that do not exist. @throws ApiError NOT_FOUND if the organization does not exist */
async function missingDocuments(
  reader: DirectoryReader,
  places: readonly ConfigScope[],
): Promise<readonly string[]> {
  await organizationOf(reader)
  const documentIds = places.filter((place) => place !== null)
  const missing = await findMissing(
    reader,
    documentIds.map((id) => ({ type: 'document', id })),
  )
  return missing.map(({ id }) => id)
}

async function checkPlaces(reader: DirectoryReader, places: readonly ConfigScope[]): Promise<void> {
  const ids = await missingDocuments(reader, places)
  if (ids.length === 0) return
  throw new ApiError('document/not-found', `${ids.length} of the documents do not exist; see documentIds`, {
    details: { documentIds: ids },
  })
}
