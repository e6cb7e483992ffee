import { EditorLink } from '../documents/editor-tabs.tsx'
import { openPlayground } from '../playground/open-playground.ts'
import { href } from '../routing/route.ts'
import { Button, LocalTime } from '../ui/controls.tsx'
import { EmptyNotice, ErrorNotice } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'
import {
  type BusyEditor,
  busyEditors,
  liveConnectionsMax,
  type OnlineUser,
  onlineUsers,
  useLiveConnections,
} from './live-groups.ts'

const shownMax = 6
const namesMax = 3

/** Shows the busiest open documents and the connected users of the API key. */
export function LiveLists() {
  const { connections: read, error, isPart } = useLiveConnections()
  const connections = read ?? []
  return (
    <div class="cards live">
      <section class="card dense" aria-label="Open documents">
        <h2>Open documents</h2>
        <ErrorNotice error={error} />
        {read?.length === 0 && (
          <EmptyNotice>
            No document is open. The page <b>Connect</b> of <a href={href('documents')}>a document</a> has
            code for your editor. <Button onClick={openPlayground}>Try the playground</Button>
          </EmptyNotice>
        )}
        {connections.length > 0 && <EditorTable editors={busyEditors(connections)} />}
        {isPart && <p class="hint">Of the latest {liveConnectionsMax} connections.</p>}
      </section>
      <section class="card dense" aria-label="Users online">
        <h2>Users online</h2>
        {read?.length === 0 && <EmptyNotice>No user is connected.</EmptyNotice>}
        {connections.length > 0 && <UserTable users={onlineUsers(connections)} />}
        <p>
          <a href={href('presence')}>Who is where</a> · <a href={href('connections')}>All connections</a>
        </p>
      </section>
    </div>
  )
}

const More = ({ count }: { readonly count: number }) =>
  count > 0 ? <p class="hint">and {count.toLocaleString()} more</p> : null

const EditorTable = ({ editors }: { readonly editors: readonly BusyEditor[] }) => (
  <>
    <Table
      caption="The open documents with the most users"
      items={editors.slice(0, shownMax)}
      keyOf={({ organizationId, documentId, editorId }) =>
        JSON.stringify([organizationId, documentId, editorId])
      }
      columns={[
        { title: 'Document', cell: (editor) => <EditorLink {...editor} /> },
        { title: 'Users', cell: ({ users }) => shortList(users.map(({ name }) => name)) },
        { title: 'Number of users', cell: ({ users }) => users.length.toLocaleString(), numeric: true },
      ]}
    />
    <More count={editors.length - shownMax} />
  </>
)

function shortList(names: readonly string[]): string {
  const hidden = names.length - namesMax
  return names.slice(0, namesMax).join(', ') + (hidden > 0 ? ` and ${hidden} more` : '')
}

const UserTable = ({ users }: { readonly users: readonly OnlineUser[] }) => (
  <>
    <Table
      caption="The latest connected users"
      items={users.slice(0, shownMax)}
      keyOf={({ organizationId, userId }) => JSON.stringify([organizationId, userId])}
      columns={[
        {
          title: 'User',
          cell: ({ organizationId, userId, name }) => (
            <>
              <a href={href('users', organizationId, 'user', userId)}>{name}</a>
              {name !== userId && <span class="hint">{userId}</span>}
            </>
          ),
        },
        {
          title: 'On',
          cell: ({ documentIds }) => <span class="documents">{shortList(documentIds)}</span>,
        },
        { title: 'Since', cell: ({ sinceAt }) => <LocalTime at={sinceAt} /> },
      ]}
    />
    <More count={users.length - shownMax} />
  </>
)
