import { Empty } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { placesOf } from './carets.ts'
import type { LiveDocument } from './live-document.ts'
import type { Person } from './people.ts'

/** Who is on the editor, and where. */
export function Presence({ live }: { readonly live: LiveDocument }) {
  const people = live.people.all()
  const { roots, carets } = placesOf(live.doc, people)
  const indexes = new Map([...carets.values()].flat().map(({ clientId, index }) => [clientId, index]))
  const place = ({ clientId }: Person) => {
    const root = roots.get(clientId)
    return root === undefined ? '–' : `${root}, at ${indexes.get(clientId)?.toLocaleString() ?? '?'}`
  }
  if (people.length === 0) return <Empty>Nobody shows presence in this editor.</Empty>
  return (
    <Table
      caption="Who is here"
      items={people}
      keyOf={({ clientId }) => String(clientId)}
      columns={[
        { title: 'Name', cell: (person) => <Name person={person} /> },
        { title: 'User', cell: ({ userId }) => userId || '–' },
        { title: 'Cursor', cell: place },
        { title: 'Seen here since', cell: ({ since }) => <Time at={since} /> },
      ]}
    />
  )
}

const Name = ({ person: { name, colour } }: { readonly person: Person }) => (
  <>
    {colour !== null && <span class="swatch" style={{ backgroundColor: colour }} />} {name}
  </>
)
