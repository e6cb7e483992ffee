import { useState } from 'preact/hooks'
import { useAction, useApi, usePages } from '../calls.ts'
import { callForAll } from '../items.ts'
import { href } from '../route.ts'
import { Button, Field } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { Outcome } from '../ui/notice.tsx'
import { List } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'

export interface GroupRecord {
  readonly groupId: string
  readonly groupName: string
  readonly lastUpdated: number
  readonly userIds?: readonly string[]
}

export function Groups({ organizationId }: { readonly organizationId: string }) {
  const api = useApi()
  const listing = usePages<GroupRecord>('/v2/organizations/usergroups/get', { organizationId })
  const [groupId, setId] = useState('')
  const [groupName, setName] = useState('')
  const make = useAction(async () => {
    const organizationUserGroups = [{ groupId, groupName }]
    await callForAll(api, '/v1/organizations/usergroups/add', { organizationId, organizationUserGroups })
    setId('')
    setName('')
    listing.reload()
    return `The group ${groupId} is made.`
  })
  return (
    <>
      <List
        caption="Groups"
        listing={listing}
        keyOf={(group) => group.groupId}
        empty="No groups yet. What is granted to a group its users may do."
        columns={[
          {
            title: 'Group',
            cell: (group) => (
              <a href={href('users', organizationId, 'groups', group.groupId)}>
                {group.groupName} <code>{group.groupId}</code>
              </a>
            ),
          },
          { title: 'Changed', cell: ({ lastUpdated }) => <Time at={lastUpdated} /> },
        ]}
      />
      <Form label="Make a group" onSubmit={() => void make.run()}>
        <div class="row">
          <Field label="Group id" value={groupId} onInput={setId} required />
          <Field label="Name" value={groupName} onInput={setName} />
          <Button kind="primary" type="submit" busy={make.busy}>
            Make group
          </Button>
        </div>
        <Outcome {...make} />
      </Form>
    </>
  )
}
