import { InOrganization } from '../organization.tsx'
import { href, type PageProps, type Route } from '../route.ts'
import { Tabs } from '../ui/tabs.tsx'
import { Group } from './group.tsx'
import { Groups } from './groups.tsx'
import { User } from './user.tsx'
import { Users } from './users.tsx'

/** `#/users/{organization}`, and behind it `user/{user}`, `groups`, or `groups/{group}`. */
export default function Page({ rest }: PageProps) {
  return (
    <>
      <h1>Users and groups</h1>
      <InOrganization section="users" rest={rest}>
        {(organizationId, further) => <Place organizationId={organizationId} further={further} />}
      </InOrganization>
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
      {kind === 'user' && id !== undefined && <User key={id} organizationId={organizationId} userId={id} />}
      {kind === 'groups' && id !== undefined && (
        <Group key={id} organizationId={organizationId} groupId={id} />
      )}
      {kind === 'groups' && id === undefined && <Groups organizationId={organizationId} />}
      {kind === undefined && <Users organizationId={organizationId} />}
    </>
  )
}
