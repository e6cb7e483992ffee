import { EmptyNotice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { LocalTime } from '../../ui/time.tsx'
import type { AwarenessUser } from './awareness-users.ts'
import { caretPositions } from './carets.ts'
import type { LiveDocument } from './live-document.ts'

/** Shows the users on the editor, with the positions of their cursors. */
export function PresenceList({ live }: { readonly live: LiveDocument }) {
  const people = live.people.all()
  const { roots, carets } = caretPositions(live.doc, people)
  const indexes = new Map([...carets.values()].flat().map(({ clientId, index }) => [clientId, index]))
  const place = ({ clientId }: AwarenessUser) => {
    const root = roots.get(clientId)
    return root === undefined ? '–' : `${root}, at ${indexes.get(clientId)?.toLocaleString() ?? '?'}`
  }
  if (people.length === 0) return <EmptyNotice>No user shows presence in this editor.</EmptyNotice>
  return (
    <Table
      caption="Who is here"
      items={people}
      keyOf={({ clientId }) => String(clientId)}
      columns={[
        { title: 'Name', cell: (person) => <Name person={person} /> },
        { title: 'User', cell: ({ userId }) => userId || '–' },
        { title: 'Cursor', cell: place },
        { title: 'First seen', cell: ({ since }) => <LocalTime at={since} /> },
      ]}
    />
  )
}

const Name = ({ person: { name, color, isAgent } }: { readonly person: AwarenessUser }) => (
  <>
    {color !== null && <span class="swatch" style={{ backgroundColor: color }} />} {name}{' '}
    {isAgent && <span class="tag">agent</span>}
  </>
)
