import type { AwarenessUser } from './awareness-users.ts'
import type { LiveDocument } from './live-document.ts'

export const UserName = ({ person: { name, color, isAgent } }: { readonly person: AwarenessUser }) => (
  <>
    {color !== null && <span class="swatch" style={{ backgroundColor: color }} />} {name}{' '}
    {isAgent && <span class="tag">agent</span>}
  </>
)

/** Names the users on the editor in one line. */
export function PresenceLine({ live }: { readonly live: LiveDocument }) {
  const people = live.people.all()
  if (people.length === 0) return null
  return (
    <p class="row here">
      Here now:
      {people.map((person) => (
        <span key={person.clientId}>
          <UserName person={person} />
        </span>
      ))}
    </p>
  )
}
