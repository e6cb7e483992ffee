import { useAction, useApi, usePages } from '../calls.ts'
import { Button } from '../ui/controls.tsx'
import { Outcome } from '../ui/notice.tsx'
import { List } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { GrantForm } from './grant-form.tsx'
import { type Resource, type Role, sayRight } from './rights.ts'

interface User {
  readonly userId: string
  readonly name: string
  readonly accessRole?: Role
  readonly expiresAt?: number
}

const on = ({ type, id, organizationId }: Resource): object =>
  type === 'organization' ? { organizationId } : { organizationId, [`${type}Id`]: id }

/** Who was granted a role on this very thing, and what it takes to change that. */
export function Granted({
  resource,
  onChange,
}: {
  readonly resource: Resource
  readonly onChange: () => void
}) {
  const api = useApi()
  const users = usePages<User>('/v2/users/get', on(resource))
  const listing = { ...users, items: users.items.filter(({ accessRole }) => accessRole !== undefined) }
  const changed = () => {
    users.reload()
    onChange()
  }
  const remove = useAction(async (userId: string) => {
    await api.call('/v2/auth/permissions/remove', { userId, permissions: { resources: [resource] } })
    changed()
    return `${userId} has no role of its own here any more.`
  })
  return (
    <section aria-label="Granted here">
      <h3>Granted here</h3>
      <Outcome {...remove} />
      <List
        caption="Granted here"
        listing={listing}
        keyOf={({ userId }) => userId}
        empty={`Nobody was granted a role on this ${resource.type} itself.`}
        columns={[
          { title: 'User', cell: ({ userId, name }) => <Who userId={userId} name={name} /> },
          { title: 'Role', cell: (user) => sayRight(user) },
          {
            title: 'Ends',
            cell: ({ expiresAt }) => (expiresAt === undefined ? 'never' : <Time at={expiresAt * 1000} />),
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

export const Who = ({ userId, name }: { readonly userId: string; readonly name: string }) => (
  <>
    {name !== '' && <>{name} </>}
    <code>{userId}</code>
  </>
)
