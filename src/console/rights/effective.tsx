import { useApi, usePages, useReading } from '../calls.ts'
import { href } from '../route.ts'
import { Problem } from '../ui/notice.tsx'
import { List } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { Who } from './granted.tsx'
import { type Resource, type Right, type Rights, rightOn, sayRight } from './rights.ts'

interface User {
  readonly userId: string
  readonly name: string
}

/** As many as one call answers for. */
const usersMax = 500

/** What users of the organization may do on something, wherever that comes from. @param count changes when rights have */
export function Effective({ resource, count }: { readonly resource: Resource; readonly count: number }) {
  const { type, id, organizationId } = resource
  const users = usePages<User>('/v2/users/get', { organizationId })
  const userIds = users.items.map(({ userId }) => userId)
  const on = type === 'organization' ? {} : { [`${type}Ids`]: [id] }
  const rights = useRights({ organizationId, userIds, ...on }, count)
  const rightOf = ({ userId }: User): Right | undefined => rightOn(rights.data?.[userId], resource)
  return (
    <section aria-label="What users may do">
      <h3>What users may do</h3>
      <p class="hint">
        By what is granted here and above, to them and their groups, and by access types; of who is a user of
        the organization.
      </p>
      <Problem error={rights.error} />
      <List
        caption="What users may do"
        listing={users}
        keyOf={({ userId }) => userId}
        empty="The organization has no users."
        columns={[
          {
            title: 'User',
            cell: (user) => (
              <a href={href('users', organizationId, 'user', user.userId)}>
                <Who {...user} />
              </a>
            ),
          },
          { title: 'May', cell: (user) => sayRight(rightOf(user)) },
          { title: 'Until', cell: (user) => <End of={rightOf(user)} /> },
        ]}
      />
    </section>
  )
}

export const End = ({ of }: { readonly of: Right | undefined }) =>
  of?.expiresAt === undefined ? null : <Time at={of.expiresAt * 1000} />

interface Question {
  readonly organizationId: string
  readonly userIds: readonly string[]
  readonly folderIds?: readonly string[]
  readonly documentIds?: readonly string[]
}

/** What users may do, of however many. @param count asks anew when it changes */
export function useRights({ userIds, ...question }: Question, count = 0) {
  const api = useApi()
  return useReading<Rights>(
    async () => {
      const found: Rights[] = []
      for (let at = 0; at < userIds.length; at += usersMax) {
        const asked = { ...question, userIds: userIds.slice(at, at + usersMax) }
        found.push(await api.call<Rights>('/v2/auth/permissions/get', asked))
      }
      return Object.assign({}, ...found) as Rights
    },
    JSON.stringify([question, userIds, count]),
  )
}
