import { useAction, useApi, usePagedQuery } from '../api/hooks.ts'
import { Button } from '../ui/controls.tsx'
import { ActionOutcome } from '../ui/notice.tsx'
import { PagedTable } from '../ui/table.tsx'
import { LocalTime } from '../ui/time.tsx'
import { GrantForm } from './grant-form.tsx'
import { type ConsoleResource, describePermission, type RoleName } from './permission.ts'

interface User {
  readonly userId: string
  readonly name: string
  readonly accessRole?: RoleName
  readonly expiresAt?: number
}

const on = ({ type, id, organizationId }: ConsoleResource): object =>
  type === 'organization' ? { organizationId } : { organizationId, [`${type}Id`]: id }

/** Lists the users who have a role directly on the resource. Shows forms that change these roles. */
export function DirectGrants({
  resource,
  onChange,
}: {
  readonly resource: ConsoleResource
  readonly onChange: () => void
}) {
  const api = useApi()
  const users = usePagedQuery<User>('/v2/users/get', on(resource))
  const listing = { ...users, items: users.items.filter(({ accessRole }) => accessRole !== undefined) }
  const changed = () => {
    users.reload()
    onChange()
  }
  const remove = useAction(async (userId: string) => {
    await api.call('/v2/auth/permissions/remove', { userId, permissions: { resources: [resource] } })
    changed()
    return `${userId} has no direct role here any more.`
  })
  return (
    <section aria-label="Granted here">
      <h3>Granted here</h3>
      <ActionOutcome {...remove} />
      <PagedTable
        caption="Granted here"
        listing={listing}
        keyOf={({ userId }) => userId}
        empty={`No user has a direct role on this ${resource.type}. Grant one below.`}
        columns={[
          { title: 'User', cell: ({ userId, name }) => <GranteeName userId={userId} name={name} /> },
          { title: 'Role', cell: (user) => describePermission(user) },
          {
            title: 'Ends',
            cell: ({ expiresAt }) =>
              expiresAt === undefined ? 'never' : <LocalTime at={expiresAt * 1000} />,
          },
          {
            title: '',
            cell: ({ userId }) => (
              <Button
                label={`Take back from ${userId}`}
                busy={remove.busy}
                onClick={() => void remove.run(userId)}
              >
                Take back
              </Button>
            ),
          },
        ]}
      />
      <GrantForm resource={resource} onChange={changed} />
    </section>
  )
}

export const GranteeName = ({ userId, name }: { readonly userId: string; readonly name: string }) => (
  <>
    {name !== '' && <>{name} </>}
    <code>{userId}</code>
  </>
)
