import { useState } from 'preact/hooks'
import type { MetricPoint } from '../../capabilities/observability/metric-points.ts'
import type { MetricsStorageGetData } from '../../client/api/operation-types.ts'
import type { ApiCallError } from '../api/client.ts'
import { useApi, useAsync, useInterval, useServerVersion, useSignIn } from '../api/hooks.ts'
import { href } from '../routing/route.ts'
import { Button, LocalTime, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { formatBytes } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { DefinitionList } from '../ui/table.tsx'

const storedRefreshMs = 60_000

interface ServerProps {
  readonly unready: string | null
  readonly point: MetricPoint | undefined
}

/** Shows version and readiness of the server, and links to more information. */
export function ServerStatus({ unready, point }: ServerProps) {
  const { data } = useServerVersion()
  return (
    <section class="card server" aria-label="Server">
      <p class="row between">
        <span>
          <strong>Weft {data?.version}</strong>{' '}
          {unready === null ? (
            <span class="tag good">ready</span>
          ) : (
            <span class="tag bad">not ready: {unready}</span>
          )}{' '}
        </span>
        <span class="row">
          <a href="/metrics">Metrics</a>
          <a href="/docs">Documentation</a>
          <a href="/docs/reference">API reference</a>
          <a href="/openapi.json">OpenAPI</a>
        </span>
      </p>
      {point !== undefined && <State point={point} />}
      {point?.nodes != null && point.nodes > 1 && (
        <p class="hint">
          {point.nodes} servers share the store. The figures here are those of the one that this page has
          reached.
        </p>
      )}
    </section>
  )
}

/** Shows the current state of documents, clients, storage and backup. */
function State({ point }: { readonly point: MetricPoint }) {
  const { documents, connections, protocols, diskFree, diskSize, lastBackup } = point
  const stored = useStoredBytes()
  const clients = protocols.map(([protocol, count]) => `${count.toLocaleString()} ${protocol}`)
  return (
    <DefinitionList
      of={[
        ['Documents', `${(documents ?? 0).toLocaleString()} open`],
        [
          'Connections',
          <>
            <a href={href('connections')}>{(connections ?? 0).toLocaleString()} connected</a>
            {clients.length > 0 && ` (${clients.join(', ')})`}
          </>,
        ],
        [
          'Storage',
          [
            stored?.storedBytes !== undefined && describeStored(stored.storedBytes, stored.storedBytesMax),
            diskFree !== null &&
              diskSize !== null &&
              `${formatBytes(diskFree)} of ${formatBytes(diskSize)} free on the disk`,
          ]
            .filter((part) => part !== false)
            .join('; '),
        ],
        ['Last backup', lastBackup === null ? null : <LastBackup at={lastBackup} />],
      ]}
    />
  )
}

const describeStored = (bytes: number, bytesMax: number | undefined): string =>
  bytesMax === undefined
    ? `${formatBytes(bytes)} stored by the workspace`
    : `${formatBytes(bytes)} of ${formatBytes(bytesMax)} stored by the workspace`

/** Reads the stored bytes of the workspace now and every minute. */
function useStoredBytes(): MetricsStorageGetData | null {
  const api = useApi()
  const { metricsToken } = api.credentials
  const read = () => api.call<MetricsStorageGetData>('/v2/metrics/storage/get', { metricsToken })
  const { data, reload } = useAsync(async () => (api.hasApiKey ? read() : null), `${metricsToken}`)
  useInterval(storedRefreshMs, reload)
  return data
}

const LastBackup = ({ at }: { readonly at: number }) =>
  at === 0 ? (
    <>
      none yet: <a href="/docs/backups#backup-and-restore">Backup and restore</a>
    </>
  ) : (
    <LocalTime at={at} />
  )

/** Explains why metrics are missing, with a remedy. It disappears when metrics are available again. */
export function MetricsProblem({ error }: { readonly error: ApiCallError | null }) {
  if (error === null) return null
  if (error.status === 'UNAUTHENTICATED') return <TokenForm />
  if (error.status === 'OFFLINE')
    return (
      <Notice kind="bad">The server does not respond. Start it; this page continues automatically.</Notice>
    )
  return <Notice kind="bad">The metrics are not available at the moment ({error.message}); retrying.</Notice>
}

/** Shows a form that adds the metrics token to the credentials of the session. */
function TokenForm() {
  const { credentials } = useApi()
  const enter = useSignIn()
  const [token, setToken] = useState('')
  return (
    <div class="card">
      <p>The server requires a metrics token.</p>
      {credentials.metricsToken !== undefined && (
        <Notice kind="bad">The server rejects this metrics token.</Notice>
      )}
      <Form
        label="Show metrics"
        inline
        onSubmit={() => enter({ ...credentials, metricsToken: token.trim() })}
      >
        <TextField
          label="Metrics token"
          type="password"
          value={token}
          onInput={setToken}
          hint="WEFT_METRICS_TOKEN of the server; kept until this tab is closed."
        />
        <Button type="submit" disabled={token.trim() === ''}>
          Show metrics
        </Button>
      </Form>
    </div>
  )
}
