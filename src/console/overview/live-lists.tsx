import type { ConnectionsGetDataItem } from '../../client/api/operation-types.ts'
import { useApi, useInterval, useQuery } from '../api/hooks.ts'
import { consoleUser } from '../documents/editor.ts'
import { EditorLink } from '../documents/editor-tabs.tsx'
import { openPlayground } from '../playground/open-playground.ts'
import { href } from '../routing/route.ts'
import { Button, LocalTime } from '../ui/controls.tsx'
import { EmptyNotice, ErrorNotice } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'
import { type BusyEditor, busyEditors, type OnlineUser, onlineUsers } from './live-groups.ts'

/** Number of connections that are read: one page of the operation. */
const readMax = 100
const shownMax = 6
const namesMax = 3
const refreshMs = 5_000

/** Shows the busiest open documents and the connected users of the API key. */
export function LiveLists() {
  const path = useApi().hasApiKey ? '/v2/connections/get' : null
  const { data, error, reload } = useQuery<readonly ConnectionsGetDataItem[]>(path, { pageSize: readMax })
  useInterval(refreshMs, reload)
  if (path === null) return null
  // The pages of the console are connected to the documents that they show.
  const connections = (data ?? []).filter(({ userId }) => userId !== consoleUser.id)
  return (
    <div class="cards live">
      <section class="card dense" aria-label="Open documents">
        <h2>Open documents</h2>
        <ErrorNotice error={error} />
        {data !== null && connections.length === 0 && (
          <EmptyNotice>
            No document is open. The page <b>Connect</b> of <a href={href('documents')}>a document</a> has
            code for your editor. <Button onClick={openPlayground}>Try the playground</Button>
          </EmptyNotice>
        )}
        {connections.length > 0 && <EditorTable editors={busyEditors(connections)} />}
        <Remainder connections={data?.length ?? 0} />
      </section>
      <section class="card dense" aria-label="Users online">
        <h2>Users online</h2>
        {data !== null && connections.length === 0 && <EmptyNotice>No user is connected.</EmptyNotice>}
        {connections.length > 0 && <UserTable users={onlineUsers(connections)} />}
        <p>
          <a href={href('connections')}>All connections</a>
        </p>
      </section>
    </div>
  )
}

const Remainder = ({ connections }: { readonly connections: number }) =>
  connections < readMax ? null : <p class="hint">Of the latest {readMax} connections.</p>

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
        { title: 'Users', cell: ({ names }) => shortList(names) },
        { title: 'Number of users', cell: ({ userCount }) => userCount.toLocaleString(), numeric: true },
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
