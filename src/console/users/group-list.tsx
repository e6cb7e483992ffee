import { useState } from 'preact/hooks'
import { useAction, useApi, usePagedQuery } from '../api/hooks.ts'
import { href } from '../routing/route.ts'
import { Button, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome } from '../ui/notice.tsx'
import { PagedTable } from '../ui/table.tsx'
import { LocalTime } from '../ui/time.tsx'

export interface ListedGroup {
  readonly groupId: string
  readonly groupName: string
  readonly lastUpdated: number
  readonly userIds?: readonly string[]
}

export function GroupList({ organizationId }: { readonly organizationId: string }) {
  const api = useApi()
  const listing = usePagedQuery<ListedGroup>('/v2/organizations/usergroups/get', { organizationId })
  const [groupId, setId] = useState('')
  const [groupName, setName] = useState('')
  const make = useAction(async () => {
    const organizationUserGroups = [{ groupId, groupName }]
    await api.callBatch('/v1/organizations/usergroups/add', { organizationId, organizationUserGroups })
    setId('')
    setName('')
    listing.reload()
    return `The group ${groupId} is made.`
  })
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
      <Form label="Make a group" onSubmit={() => void make.run()}>
        <div class="row">
          <TextField label="Group id" value={groupId} onInput={setId} required />
          <TextField label="Name" value={groupName} onInput={setName} />
          <Button kind="primary" type="submit" busy={make.busy}>
            Make group
          </Button>
        </div>
        <ActionOutcome {...make} />
      </Form>
    </>
  )
}
