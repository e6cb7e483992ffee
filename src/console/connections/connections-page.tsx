import { useState } from 'preact/hooks'
import type { ConnectionsGetDataItem } from '../../client/api/operation-types.ts'
import { useApi, useFollowedQuery } from '../api/hooks.ts'
import { EditorLink } from '../documents/editor-tabs.tsx'
import { openPlayground } from '../playground/open-playground.ts'
import type { PageProps } from '../routing/route.ts'
import { Button, Checkbox, LocalTime } from '../ui/controls.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { useFilters } from '../ui/form.tsx'
import { PagedTable } from '../ui/table.tsx'
import { ConnectionTabs } from './connection-tabs.tsx'
import { TokenInspector } from './token-inspector.tsx'

const filters = [
  { name: 'organizationId', label: 'Organization id' },
  { name: 'documentId', label: 'Document id' },
  { name: 'userId', label: 'User id' },
] as const

/** Page `#/connections`, or `#/connections/token` for the token inspector. */
export default function ConnectionsPage({ rest: [view] }: PageProps) {
  return (
    <>
      <h1>Connections</h1>
      <ConnectionTabs current={view === 'token' ? 'token' : 'live'} />
      {view === 'token' ? <TokenInspector /> : <LiveConnections />}
    </>
  )
}

/** Shows the clients that are connected to documents of the API key. */
function LiveConnections() {
  const [asked, filterForm] = useFilters(filters)
  const { listing, isFollowed, follow } = useFollowedQuery<ConnectionsGetDataItem>(
    '/v2/connections/get',
    asked,
    true,
  )
  return (
    <>
      {filterForm}
      <Checkbox label="Refresh every 5 seconds" checked={isFollowed} onChange={follow} />
      <PagedTable
        caption="Connections"
        listing={listing}
        keyOf={({ connectionId }) => connectionId}
        empty={
          Object.keys(asked).length > 0 ? (
            'No connected client matches these filters.'
          ) : (
            <>
              No client is connected. Editors that open a document appear here.{' '}
              <Button onClick={openPlayground}>Open the playground</Button>
            </>
          )
        }
        columns={[
          { title: 'User', cell: (connection) => <User {...connection} /> },
          { title: 'Document', cell: (connection) => <EditorLink {...connection} /> },
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

const User = ({ name, userId }: ConnectionsGetDataItem) => (
  <>
    {name || userId}
    {name !== '' && name !== userId && <span class="hint">{userId}</span>}
  </>
)

const From = ({ clientAddress, protocol, node }: ConnectionsGetDataItem) => (
  <>
    <span class="address">{clientAddress}</span>
    <span class="hint">
      {protocol}, node {node}
    </span>
  </>
)

interface DisconnectProps {
  readonly connection: ConnectionsGetDataItem
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
