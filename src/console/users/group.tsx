import { useState } from 'preact/hooks'
import { type Listing, useAction, useApi, useCall, usePages } from '../calls.ts'
import { callForAll } from '../items.ts'
import { go, href } from '../route.ts'
import { Ask } from '../ui/ask.tsx'
import { Button, Field } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { Outcome, Problem } from '../ui/notice.tsx'
import { List } from '../ui/table.tsx'
import type { GroupRecord } from './groups.tsx'

interface GroupProps {
  readonly organizationId: string
  readonly groupId: string
}

const path = '/v2/organizations/usergroups/get'

/** One group with its members. */
export function Group({ organizationId, groupId }: GroupProps) {
  const api = useApi()
  const group = useCall<readonly GroupRecord[]>(path, { organizationId, groupIds: [groupId] })
  const remove = async () => {
    await callForAll(api, '/v2/organizations/usergroups/delete', { organizationId, groupIds: [groupId] })
    go('users', organizationId, 'groups')
  }
  if (group.data === null) return <Problem error={group.error} />
  const [found] = group.data
  if (found === undefined) return <p>There is no such group any more.</p>
  return (
    <>
      <h2>
        {found.groupName} <code>{groupId}</code>
      </h2>
      <Members organizationId={organizationId} groupId={groupId} />
      <Ask action="Delete group" title={`Delete the group ${groupId}?`} act={remove}>
        <p>
          With all that was granted to it. Its users stay in the organization; what they could do by the group
          alone they can no longer, within a second.
        </p>
      </Ask>
    </>
  )
}

function Members({ organizationId, groupId }: GroupProps) {
  const api = useApi()
  const pages = usePages<GroupRecord>(path, { organizationId, organizationUserGroupId: groupId })
  // Each page has the group once more, with further users.
  const items = pages.items.flatMap(({ userIds = [] }) => userIds)
  const listing: Listing<string> = { ...pages, items }
  const [added, setAdded] = useState('')
  const change = useAction(async (path: 'add' | 'delete', userId: string) => {
    const data = { organizationId, organizationUserGroupId: groupId, userIds: [userId] }
    await callForAll(api, `/v1/organizations/usergroups/users/${path}`, data)
    setAdded('')
    pages.reload()
    return path === 'add' ? `${userId} is in the group.` : `${userId} is in the group no longer.`
  })
  return (
    <>
      <List
        caption="Members"
        listing={listing}
        keyOf={(userId) => userId}
        empty="Nobody is in the group."
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
        <Field label="User id" value={added} onInput={setAdded} required />
        <Button type="submit" busy={change.busy}>
          Add to group
        </Button>
      </Form>
      <Outcome {...change} />
    </>
  )
}
