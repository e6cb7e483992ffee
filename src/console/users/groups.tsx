import { useState } from 'preact/hooks'
import type { OrganizationsUsergroupsGetDataItem } from '../../client/api/operation-types.ts'
import { type PagedQuery, useAction, useApi, usePagedQuery, useQuery } from '../api/hooks.ts'
import { href, navigate } from '../routing/route.ts'
import { Button, LocalTime, TextField } from '../ui/controls.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { ActionForm, Form } from '../ui/form.tsx'
import { ActionOutcome, ReadState } from '../ui/notice.tsx'
import { PagedTable } from '../ui/table.tsx'

const path = '/v2/organizations/usergroups/get'

export function GroupList({ organizationId }: { readonly organizationId: string }) {
  const api = useApi()
  const listing = usePagedQuery<OrganizationsUsergroupsGetDataItem>(path, { organizationId })
  const [groupId, setId] = useState('')
  const [groupName, setName] = useState('')
  const create = async () => {
    const organizationUserGroups = [{ groupId, groupName }]
    await api.callBatch('/v1/organizations/usergroups/add', { organizationId, organizationUserGroups })
    setId('')
    setName('')
    listing.reload()
    return `The group ${groupId} is made.`
  }
  return (
    <>
      <PagedTable
        caption="Groups"
        listing={listing}
        keyOf={(group) => group.groupId}
        empty="No groups yet. The members of a group have its permissions."
        columns={[
          {
            title: 'Group',
            cell: (group) => (
              <a href={href('users', organizationId, 'groups', group.groupId)}>
                {group.groupName} <code>{group.groupId}</code>
              </a>
            ),
          },
          { title: 'Changed', cell: ({ lastUpdated }) => <LocalTime at={lastUpdated} /> },
        ]}
      />
      <ActionForm label="Make a group" action="Make group" primary act={create}>
        <TextField label="Group id" value={groupId} onInput={setId} required />
        <TextField label="Name" value={groupName} onInput={setName} />
      </ActionForm>
    </>
  )
}

interface GroupProps {
  readonly organizationId: string
  readonly groupId: string
}

/** Shows one group with its members. */
export function GroupDetail({ organizationId, groupId }: GroupProps) {
  const api = useApi()
  const group = useQuery<readonly OrganizationsUsergroupsGetDataItem[]>(path, {
    organizationId,
    groupIds: [groupId],
  })
  const remove = async () => {
    await api.callBatch('/v2/organizations/usergroups/delete', { organizationId, groupIds: [groupId] })
    navigate('users', organizationId, 'groups')
  }
  if (group.data === null) return <ReadState {...group} />
  const [found] = group.data
  if (found === undefined) return <p>This group does not exist any more.</p>
  return (
    <>
      <h2>
        {found.groupName} <code>{groupId}</code>
      </h2>
      <Members organizationId={organizationId} groupId={groupId} />
      <ConfirmButton action="Delete group" title={`Delete the group ${groupId}?`} act={remove}>
        <p>
          With all that was granted to it. Its users stay in the organization; what they could do by the group
          alone they can no longer, within a second.
        </p>
      </ConfirmButton>
    </>
  )
}

function Members({ organizationId, groupId }: GroupProps) {
  const api = useApi()
  const pages = usePagedQuery<OrganizationsUsergroupsGetDataItem>(path, {
    organizationId,
    organizationUserGroupId: groupId,
  })
  // Joins the members on all pages. Each page contains the same group with other members.
  const items = pages.items.flatMap(({ userIds = [] }) => userIds)
  const listing: PagedQuery<string> = { ...pages, items }
  const [added, setAdded] = useState('')
  const change = useAction(async (path: 'add' | 'delete', userId: string) => {
    const data = { organizationId, organizationUserGroupId: groupId, userIds: [userId] }
    await api.callBatch(`/v1/organizations/usergroups/users/${path}`, data)
    setAdded('')
    pages.reload()
    return path === 'add' ? `${userId} is in the group.` : `${userId} is not in the group any more.`
  })
  return (
    <>
      <PagedTable
        caption="Members"
        listing={listing}
        keyOf={(userId) => userId}
        empty="This group has no members. Add one below."
        columns={[
          {
            title: 'Member',
            cell: (userId) => <a href={href('users', organizationId, 'user', userId)}>{userId}</a>,
          },
          {
            title: '',
            cell: (userId) => (
              <Button
                label={`Remove ${userId}`}
                busy={change.busy}
                onClick={() => void change.run('delete', userId)}
              >
                Remove
              </Button>
            ),
          },
        ]}
      />
      <Form label="Add a member" inline onSubmit={() => void change.run('add', added)}>
        <TextField label="User id" value={added} onInput={setAdded} required />
        <Button type="submit" busy={change.busy}>
          Add to group
        </Button>
      </Form>
      <ActionOutcome {...change} />
    </>
  )
}
