import { href, type PageProps, type Route } from '../routing/route.ts'
import { WithOrganization } from '../routing/with-organization.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { GroupDetail, GroupList } from './groups.tsx'
import { UserDetail } from './user-detail.tsx'
import { UserList } from './user-list.tsx'

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
