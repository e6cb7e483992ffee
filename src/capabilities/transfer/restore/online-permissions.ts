import { systemClock } from '../../../core/base/clock.ts'
import * as s from '../../../core/base/schema.ts'
import type { Resource } from '../../../core/directory/organizations/organization-keys.ts'
import { activeGrant } from '../../../core/directory/permissions/grants.ts'
import { callOnline, nullIfRefused, type OnlineServer } from '../documents/rest-client.ts'
import type { BackupDocuments, StoredGrant } from './backup-documents.ts'

/** Users of one call of `/v2/users/get`. */
const usersAtOnce = 30

const usersSchema = s.array(s.object({ userId: s.string }))

/** Numbers of permissions. `leftOut`: the server does not have their groups or users. */
export interface PermissionCounts {
  readonly restored: number
  readonly leftOut: number
}

/** Grants permissions of a backup in one organization of a running server. */
export class OnlinePermissions {
  readonly #server: OnlineServer
  readonly #organizationId: string
  readonly #backup: BackupDocuments

  constructor(server: OnlineServer, organizationId: string, backup: BackupDocuments) {
    this.#server = server
    this.#organizationId = organizationId
    this.#backup = backup
  }

  /** Returns whether a resource has permissions in the backup that have not expired. */
  async hasAny(resource: Resource): Promise<boolean> {
    return (await this.#activeGrants(resource)).length > 0
  }

  /**
   * Grants the permissions that a resource has in the backup and that have not expired. In an existing organization,
   * only its users get permissions, because a permission would add a user who was removed from it.
   * @param isDryRun true: only counts them. Permissions of groups then count as restored
   * @throws StorageError
   */
  async restore(resource: Resource, isNewOrganization: boolean, isDryRun = false): Promise<PermissionCounts> {
    const { grants, leftOut } = await this.#allowedGrants(resource, isNewOrganization)
    if (isDryRun) return { restored: grants.length, leftOut }
    const counts = { restored: 0, leftOut }
    // The group may have been deleted.
    for (const grant of grants) counts[(await this.#add(resource, grant)) ? 'restored' : 'leftOut'] += 1
    return counts
  }

  async #activeGrants(resource: Resource): Promise<readonly StoredGrant[]> {
    const now = systemClock.now()
    return (await this.#backup.grants(resource)).filter((grant) => activeGrant(grant, now) !== null)
  }

  async #allowedGrants(resource: Resource, isNewOrganization: boolean) {
    const all = await this.#activeGrants(resource)
    if (isNewOrganization) return { grants: all, leftOut: 0 }
    const users = all.filter(({ subjectType }) => subjectType === 'user')
    const present = await this.#present(users.map(({ subjectId }) => subjectId))
    const grants = all.filter(
      ({ subjectType, subjectId }) => subjectType !== 'user' || present.has(subjectId),
    )
    return { grants, leftOut: all.length - grants.length }
  }

  /** Returns the users that the organization of the server has. */
  async #present(userIds: readonly string[]): Promise<ReadonlySet<string>> {
    const organizationId = this.#organizationId
    const present = new Set<string>()
    for (let at = 0; at < userIds.length; at += usersAtOnce) {
      const query = { organizationId, userIds: userIds.slice(at, at + usersAtOnce) }
      const { data } = await callOnline(this.#server, '/v2/users/get', query, usersSchema)
      for (const { userId } of data) present.add(userId)
    }
    return present
  }

  /** Returns false if the group of the permission does not exist. */
  async #add(
    resource: Resource,
    { subjectType, subjectId, accessRole, expiresAt }: StoredGrant,
  ): Promise<boolean> {
    const organizationId = this.#organizationId
    const granted = { ...resource, organizationId, accessRole, ...(expiresAt !== null && { expiresAt }) }
    const subject =
      subjectType === 'user' ? { user: { userId: subjectId } } : { organizationUserGroupId: subjectId }
    // What was deleted during the restore must not exist again.
    const query = { ...subject, permissions: { resources: [granted] }, createMissing: false }
    const call = callOnline(this.#server, '/v2/auth/permissions/add', query, s.unknown)
    return (await nullIfRefused(call, 'group/not-found')) !== null
  }
}
