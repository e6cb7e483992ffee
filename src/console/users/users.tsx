import { useState } from 'preact/hooks'
import { useAction, useApi, usePages } from '../calls.ts'
import { callForAll } from '../items.ts'
import { Who } from '../rights/granted.tsx'
import { type Role, roles, sayRight } from '../rights/rights.ts'
import { go, href } from '../route.ts'
import { Button, Choice, Field } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { Outcome } from '../ui/notice.tsx'
import { List } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'

export interface UserRecord {
  readonly userId: string
  readonly name: string
  readonly email: string
  readonly color: string
  readonly photoUrl: string
  readonly accessRole?: Role
  readonly expiresAt?: number
  readonly createdAt: number
  readonly lastUpdated: number
}

export function Users({ organizationId }: { readonly organizationId: string }) {
  const listing = usePages<UserRecord>('/v2/users/get', { organizationId })
  return (
    <>
      <List
        caption="Users"
        listing={listing}
        keyOf={({ userId }) => userId}
        empty="No users yet: they are added below, or by granting them something."
        columns={[
          {
            title: 'User',
            cell: (user) => (
              <a href={href('users', organizationId, 'user', user.userId)}>
                <Who {...user} />
              </a>
            ),
          },
          { title: 'Email', cell: ({ email }) => email },
          {
            title: 'In the organization',
            cell: (user) => (user.accessRole === undefined ? '' : sayRight(user)),
          },
          { title: 'Changed', cell: ({ lastUpdated }) => <Time at={lastUpdated} /> },
        ]}
      />
      <AddUser organizationId={organizationId} onChange={listing.reload} />
      <OpenUser organizationId={organizationId} />
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
  const [accessRole, setRole] = useState<Role>('editor')
  const add = useAction(async () => {
    const users = [
      { userId, accessRole, ...(name === '' ? {} : { name }), ...(email === '' ? {} : { email }) },
    ]
    await callForAll(api, '/v2/users/add', { organizationId, users })
    setId('')
    setName('')
    setEmail('')
    onChange()
    return `${userId} is a user of the organization.`
  })
  return (
    <section class="card spaced" aria-label="Add a user">
      <Form label="Add a user" onSubmit={() => void add.run()}>
        <h2>Add a user</h2>
        <div class="row">
          <Field label="New user id" value={userId} onInput={setId} required />
          <Field label="Name" value={name} onInput={setName} />
          <Field label="Email" type="email" value={email} onInput={setEmail} />
          <Choice<Role> label="Role" value={accessRole} options={roles} onChange={setRole} />
          <Button kind="primary" type="submit" busy={add.busy}>
            Add
          </Button>
        </div>
        <Outcome {...add} />
      </Form>
    </section>
  )
}

/** Also of users who are on no page that was read, or in no organization: tokens are made for anybody. */
function OpenUser({ organizationId }: { readonly organizationId: string }) {
  const [userId, setId] = useState('')
  return (
    <Form label="Open a user" inline onSubmit={() => go('users', organizationId, 'user', userId)}>
      <Field label="Open a user by id" value={userId} onInput={setId} required />
      <Button type="submit">Open</Button>
    </Form>
  )
}
