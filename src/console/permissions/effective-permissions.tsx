import type { AuthPermissionsGetData, UsersGetDataItem } from '../../client/api/operation-types.ts'
import { useApi, useAsync, usePagedQuery } from '../api/hooks.ts'
import { LocalTime } from '../ui/controls.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { PagedTable } from '../ui/table.tsx'
import { UserLink } from './direct-grants.tsx'
import {
  type ConsoleResource,
  describePermission,
  describeReason,
  type PermissionEntry,
  permissionOn,
} from './permission.ts'

/** Maximum number of users in one call. */
const usersMax = 500

interface EffectivePermissionsProps {
  readonly resource: ConsoleResource
  /** Number that must change when grants have changed. The roles are then read again. */
  readonly count: number
}

/** Shows the effective roles that the users of the organization have on a resource. */
export function EffectivePermissions({ resource, count }: EffectivePermissionsProps) {
  const { type, id, organizationId } = resource
  const users = usePagedQuery<UsersGetDataItem>('/v2/users/get', { organizationId })
  const userIds = users.items.map(({ userId }) => userId)
  const on = type === 'organization' ? {} : { [`${type}Ids`]: [id] }
  const rights = usePermissions({ organizationId, userIds, ...on }, count)
  const rightOf = ({ userId }: UsersGetDataItem): PermissionEntry | undefined =>
    permissionOn(rights.data?.[userId], resource)
  return (
    <section aria-label="Effective permissions">
      <h3>Effective permissions</h3>
      <p class="hint">
        Roles of the users of the organization, from grants here and above, to users and to groups, and from
        access types.
      </p>
      <ErrorNotice error={rights.error} />
      <PagedTable
        caption="Effective permissions"
        listing={users}
        keyOf={({ userId }) => userId}
        empty="The organization has no users yet. Add users under Users."
        columns={[
          { title: 'User', cell: (user) => <UserLink organizationId={organizationId} user={user} /> },
          { title: 'May', cell: (user) => describePermission(rightOf(user)) },
          { title: 'Why', cell: (user) => describeReason(rightOf(user)) },
          { title: 'Until', cell: (user) => <ExpiryLabel of={rightOf(user)} /> },
        ]}
      />
    </section>
  )
}

export const ExpiryLabel = ({ of }: { readonly of: PermissionEntry | undefined }) =>
  of?.expiresAt === undefined ? null : <LocalTime at={of.expiresAt * 1000} />

interface Question {
  readonly organizationId: string
  readonly userIds: readonly string[]
  readonly folderIds?: readonly string[]
  readonly documentIds?: readonly string[]
}

/**
 * Reads the effective roles of any number of users.
 * @param count when this number changes, the roles are read again
 */
export function usePermissions({ userIds, ...question }: Question, count = 0) {
  const api = useApi()
  return useAsync<AuthPermissionsGetData>(
    async () => {
      const found: AuthPermissionsGetData[] = []
      for (let at = 0; at < userIds.length; at += usersMax) {
        const asked = { ...question, userIds: userIds.slice(at, at + usersMax) }
        found.push(await api.call<AuthPermissionsGetData>('/v2/auth/permissions/get', asked))
      }
      return Object.assign({}, ...found)
    },
    JSON.stringify([question, userIds, count]),
  )
}
