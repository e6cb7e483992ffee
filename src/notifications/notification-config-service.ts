import { findMissing } from '../directory/documents/resource-lookup.ts'
import type { OrganizationScope } from '../directory/organizations/organization-keys.ts'
import { type OrganizationStore, organizationOf } from '../directory/organizations/organization-store.ts'
import type { DirectoryReader } from '../directory/store/directory-reader.ts'
import { ApiError } from '../errors.ts'
import { notificationKeys as keys } from './notification-keys.ts'
import { type NotificationConfig, notificationConfigType, putConfig } from './notification-records.ts'
import { effectiveConfig } from './visibility.ts'

/** Maximum number of configs that one commit writes. */
const entriesAtOnce = 500

/** Id of the document to which a config applies; null for the config of the organization. */
export type ConfigScope = string | null

/** The notification config of a user in one scope. */
export interface ConfigEntry {
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
   * user are changed in one commit. If the call is interrupted, it can be repeated.
   */
  async set(
    scope: OrganizationScope,
    userIds: readonly string[],
    places: readonly ConfigScope[],
    config: NotificationConfig,
  ): Promise<void> {
    const users = [...new Set(userIds)]
    const usersAtOnce = Math.max(1, Math.floor(entriesAtOnce / places.length))
    for (let at = 0; at < users.length; at += usersAtOnce) {
      const slice = users.slice(at, at + usersAtOnce)
      const entries = slice.flatMap((userId) => places.map((documentId) => ({ userId, documentId })))
      await this.#store.change(scope, async (transaction) => {
        await checkPlaces(transaction, places)
        await transaction.getAll(entries.map(({ userId, documentId }) => keys.config(userId, documentId)))
        for (const entry of entries) await putConfig(transaction, entry, config)
      })
    }
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

async function checkPlaces(transaction: DirectoryReader, places: readonly ConfigScope[]): Promise<void> {
  await organizationOf(transaction)
  const documentIds = places.filter((place) => place !== null)
  const missing = await findMissing(
    transaction,
    documentIds.map((id) => ({ type: 'document', id })),
  )
  if (missing.length === 0) return
  const ids = missing.map(({ id }) => id)
  throw new ApiError('document/not-found', `${ids.length} of the documents do not exist; see documentIds`, {
    details: { documentIds: ids },
  })
}
