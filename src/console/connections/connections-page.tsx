import { useState } from 'preact/hooks'
import { useApi, useInterval, usePagedQuery } from '../api/hooks.ts'
import { href, type PageProps } from '../routing/route.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Button, Checkbox, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { LocalTime } from '../ui/time.tsx'
import type { ListedConnection } from './listed-connection.ts'
import { TokenInspector } from './token-inspector.tsx'

const filters = { organizationId: '', documentId: '', userId: '' }
type Filters = typeof filters

const refreshMs = 5_000

/** Page `#/connections`, or `#/connections/token` for the token inspector. */
export default function ConnectionsPage({ rest: [view] }: PageProps) {
  const [live, token] = [href('connections'), href('connections', 'token')]
  return (
    <>
      <h1>Connections</h1>
      <Tabs
        label="Connections and tokens"
        current={view === 'token' ? token : live}
        tabs={[
          [live, 'Connected clients'],
          [token, 'Token inspector'],
        ]}
      />
      {view === 'token' ? <TokenInspector /> : <LiveConnections />}
    </>
  )
}

/** Shows the clients that are connected to documents of the API key. */
function LiveConnections() {
  const [asked, setAsked] = useState<object>({})
  const [isRefreshing, setRefreshing] = useState(true)
  const listing = usePagedQuery<ListedConnection>('/v2/connections/get', asked)
  useInterval(isRefreshing ? refreshMs : null, listing.reload)
  const { more } = listing
  const readOn = () => {
    // Stops the refresh, because a refresh of the first page would drop all other pages.
    setRefreshing(false)
    more?.()
  }
  return (
    <>
      <ConnectionFilters onFilter={setAsked} />
      <Checkbox label="Refresh every 5 seconds" checked={isRefreshing} onChange={setRefreshing} />
      <PagedTable
        caption="Connections"
        listing={{ ...listing, more: more === null ? null : readOn }}
        keyOf={({ connectionId }) => connectionId}
        empty="No connected client matches these filters."
        columns={[
          { title: 'User', cell: (connection) => <User {...connection} /> },
          { title: 'Document', cell: (connection) => <Editor {...connection} /> },
          { title: 'Role', cell: ({ accessRole }) => accessRole },
          { title: 'Since', cell: ({ connectedAt }) => <LocalTime at={connectedAt} /> },
          { title: 'Transport', cell: ({ transport }) => (transport === 'http' ? 'HTTP' : 'websocket') },
          { title: 'From', cell: (connection) => <From {...connection} /> },
          {
            title: 'Action',
            cell: (connection) => <Disconnect connection={connection} onClosed={listing.reload} />,
          },
        ]}
      />
    </>
  )
}

/** Shows the filters. It applies them on submit, so that not every keystroke sends a request. */
function ConnectionFilters({ onFilter }: { readonly onFilter: (asked: object) => void }) {
  const [typed, setTyped] = useState(filters)
  const set = (member: keyof Filters) => (value: string) =>
    setTyped((before) => ({ ...before, [member]: value.trim() }))
  const given = () => Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== ''))
  return (
    <Form label="Filter" inline onSubmit={() => onFilter(given())}>
      <TextField
        label="Organization id"
        type="search"
        value={typed.organizationId}
        onInput={set('organizationId')}
      />
      <TextField label="Document id" type="search" value={typed.documentId} onInput={set('documentId')} />
      <TextField label="User id" type="search" value={typed.userId} onInput={set('userId')} />
      <Button type="submit">Filter</Button>
    </Form>
  )
}

const User = ({ name, userId }: ListedConnection) => (
  <>
    {name || userId}
    {name !== '' && name !== userId && <span class="hint">{userId}</span>}
  </>
)

const Editor = ({ organizationId, documentId, editorId }: ListedConnection) => (
  <>
    <a href={href('documents', organizationId, documentId, editorId)}>{documentId}</a>
    <span class="hint">
      {organizationId}, editor {editorId}
    </span>
  </>
)

const From = ({ clientAddress, protocol, node }: ListedConnection) => (
  <>
    <span class="address">{clientAddress}</span>
    <span class="hint">
      {protocol}, node {node}
    </span>
  </>
)

interface DisconnectProps {
  readonly connection: ListedConnection
  readonly onClosed: () => void
}

function Disconnect({ connection: { connectionId, userId, documentId }, onClosed }: DisconnectProps) {
  const api = useApi()
  const [reconnect, setReconnect] = useState(false)
  return (
    <ConfirmButton
      action="Disconnect"
      title={`Disconnect ${userId} from ${documentId}`}
      act={async () => {
        await api.call('/v2/connections/close', { connectionIds: [connectionId], reconnect })
        onClosed()
      }}
    >
      <p>
        The server closes this connection with code {reconnect ? '1012' : '4403'}. All changes that it has
        saved stay. The token of the user stays valid: to keep the user out, also revoke the tokens of the
        user, or take back the permissions.
      </p>
      <Checkbox
        label="Let the client connect again immediately"
        checked={reconnect}
        onChange={setReconnect}
      />
    </ConfirmButton>
  )
}
