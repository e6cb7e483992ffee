import { useState } from 'preact/hooks'
import type { UsersGetDataItem } from '../../client/api/operation-types.ts'
import { useAction, useApi, usePagedQuery } from '../api/hooks.ts'
import { href } from '../routing/route.ts'
import { Button, LocalTime, Select, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome } from '../ui/notice.tsx'
import { PagedTable } from '../ui/table.tsx'
import {
  type ConsoleResource,
  describePermission,
  expirySeconds,
  type RoleName,
  roles,
} from './permission.ts'

type Kind = 'user' | 'group'

interface GrantsProps {
  readonly resource: ConsoleResource
  /** Called after a role was granted or revoked. */
  readonly onChange: () => void
}

/**
 * Shows a form that grants a role to a user or a group. The form can also revoke the role of a group, because
 * groups are not in the list of grants.
 */
function GrantForm({ resource, onChange }: GrantsProps) {
  const api = useApi()
  const [kind, setKind] = useState<Kind>('user')
  const [id, setId] = useState('')
  const [role, setRole] = useState<RoleName>('editor')
  const [end, setEnd] = useState('')
  const grant = useAction(async () => {
    const expiresAt = expirySeconds(end)
    const granted = { ...resource, accessRole: role, ...(expiresAt === undefined ? {} : { expiresAt }) }
    const who = kind === 'user' ? { user: { userId: id } } : { organizationUserGroupId: id }
    await api.call('/v2/auth/permissions/add', { ...who, permissions: { resources: [granted] } })
    onChange()
    return `${id} is granted: ${role}.`
  })
  const takeBack = useAction(async () => {
    const data = { organizationUserGroupId: id, permissions: { resources: [resource] } }
    await api.call('/v2/auth/permissions/remove', data)
    onChange()
    return `The group ${id} has no direct role here any more.`
  })
  const isBusy = grant.busy || takeBack.busy
  return (
    <Form label="Grant a role" onSubmit={() => void grant.run()}>
      <div class="row">
        <Select<Kind>
          label="Grant to"
          value={kind}
          options={[
            ['user', 'a user'],
            ['group', 'a group'],
          ]}
          onChange={setKind}
        />
        <TextField label={kind === 'user' ? 'User id' : 'Group id'} value={id} onInput={setId} required />
        <Select<RoleName> label="Role" value={role} options={roles} onChange={setRole} />
        <TextField label="Until (empty: no expiry)" type="datetime-local" value={end} onInput={setEnd} />
        <Button kind="primary" type="submit" busy={isBusy}>
          Grant
        </Button>
        {kind === 'group' && (
          <Button busy={isBusy} disabled={id === ''} onClick={() => void takeBack.run()}>
            Take back
          </Button>
        )}
      </div>
      {kind === 'group' && (
        <p class="hint">Roles of groups are not listed; they show below, in what their users may do.</p>
      )}
      <ActionOutcome error={grant.error ?? takeBack.error} done={grant.done ?? takeBack.done} />
    </Form>
  )
}

const on = ({ type, id, organizationId }: ConsoleResource): object =>
  type === 'organization' ? { organizationId } : { organizationId, [`${type}Id`]: id }

/** Lists the users who have a role directly on the resource. Shows forms that change these roles. */
export function DirectGrants({ resource, onChange }: GrantsProps) {
  const api = useApi()
  const users = usePagedQuery<UsersGetDataItem>('/v2/users/get', on(resource))
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

const GranteeName = ({ userId, name }: { readonly userId: string; readonly name: string }) => (
  <>
    {name !== '' && <>{name} </>}
    <code>{userId}</code>
  </>
)

interface UserLinkProps {
  readonly organizationId: string
  readonly user: UsersGetDataItem
}

/** Shows a link to the page of a user. */
export const UserLink = ({ organizationId, user }: UserLinkProps) => (
  <a href={href('users', organizationId, 'user', user.userId)}>
    <GranteeName {...user} />
  </a>
)
