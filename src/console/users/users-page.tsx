import { useState } from 'preact/hooks'
import type { UsersGetDataItem } from '../../client/api/operation-types.ts'
import { useApi, usePagedQuery } from '../api/hooks.ts'
import { UserLink } from '../permissions/direct-grants.tsx'
import { describePermission, type RoleName, roles } from '../permissions/permission.ts'
import { href, navigate, type PageProps, type Route } from '../routing/route.ts'
import { WithOrganization } from '../routing/with-organization.tsx'
import { LocalTime, Select, Tabs, TextField } from '../ui/controls.tsx'
import { ActionForm, OpenForm } from '../ui/form.tsx'
import { PagedTable } from '../ui/table.tsx'
import { GroupDetail, GroupList } from './groups.tsx'
import { UserDetail } from './user-detail.tsx'

function UserList({ organizationId }: { readonly organizationId: string }) {
  const listing = usePagedQuery<UsersGetDataItem>('/v2/users/get', { organizationId })
  return (
    <>
      <PagedTable
        caption="Users"
        listing={listing}
        keyOf={({ userId }) => userId}
        empty="No users yet. Add one below, or grant a role to a user."
        columns={[
          { title: 'User', cell: (user) => <UserLink organizationId={organizationId} user={user} /> },
          { title: 'Email', cell: ({ email }) => email },
          {
            title: 'In the organization',
            cell: (user) => (user.accessRole === undefined ? '' : describePermission(user)),
          },
          { title: 'Changed', cell: ({ lastUpdated }) => <LocalTime at={lastUpdated} /> },
        ]}
      />
      <AddUser organizationId={organizationId} onChange={listing.reload} />
      {/* The user may be on a page that is not loaded, or in no organization. */}
      <OpenForm
        label="Open a user by id"
        onOpen={(userId) => navigate('users', organizationId, 'user', userId)}
      />
    </>
  )
}

interface AddUserProps {
  readonly organizationId: string
  readonly onChange: () => void
}

function AddUser({ organizationId, onChange }: AddUserProps) {
  const api = useApi()
  const [userId, setId] = useState('')
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [accessRole, setRole] = useState<RoleName>('editor')
  const add = async () => {
    const users = [
      { userId, accessRole, ...(name === '' ? {} : { name }), ...(email === '' ? {} : { email }) },
    ]
    await api.callBatch('/v2/users/add', { organizationId, users })
    setId('')
    setName('')
    setEmail('')
    onChange()
    return `${userId} is a user of the organization.`
  }
  return (
    <section class="card spaced" aria-label="Add a user">
      <h2>Add a user</h2>
      <ActionForm label="Add a user" action="Add" primary act={add}>
        <TextField label="New user id" value={userId} onInput={setId} required />
        <TextField label="Name" value={name} onInput={setName} />
        <TextField label="Email" type="email" value={email} onInput={setEmail} />
        <Select<RoleName> label="Role" value={accessRole} options={roles} onChange={setRole} />
      </ActionForm>
    </section>
  )
}

/**
 * Shows the page `#/users/{organization}`. Optional parts after it are `user/{user}`, `groups` or
 * `groups/{group}`.
 */
export default function UsersPage({ rest }: PageProps) {
  return (
    <>
      <h1>Users and groups</h1>
      <WithOrganization section="users" rest={rest}>
        {(organizationId, further) => <Place organizationId={organizationId} further={further} />}
      </WithOrganization>
    </>
  )
}

function Place({ organizationId, further }: { readonly organizationId: string; readonly further: Route }) {
  const [kind, id] = further
  const [users, groups] = [href('users', organizationId), href('users', organizationId, 'groups')]
  return (
    <>
      <Tabs
        label="Users or groups"
        current={kind === 'groups' ? groups : users}
        tabs={[
          [users, 'Users'],
          [groups, 'Groups'],
        ]}
      />
      {kind === 'user' && id !== undefined && (
        <UserDetail key={id} organizationId={organizationId} userId={id} />
      )}
      {kind === 'groups' && id !== undefined && (
        <GroupDetail key={id} organizationId={organizationId} groupId={id} />
      )}
      {kind === 'groups' && id === undefined && <GroupList organizationId={organizationId} />}
      {kind === undefined && <UserList organizationId={organizationId} />}
    </>
  )
}
