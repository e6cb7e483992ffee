import { useState } from 'preact/hooks'
import type { ApiCallError } from '../api/client.ts'
import { useServerVersion } from '../api/server-version.ts'
import { Button, TextField } from '../ui/controls.tsx'
import { formatCounted } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import type { MetricPoint } from './metric-points.ts'
import type { TokenPrompt } from './use-metrics.ts'

interface ServerProps {
  readonly unready: string | null
  readonly point: MetricPoint | undefined
}

/** Version and readiness of the server, and links to further information. */
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
          {point !== undefined && <Now point={point} />}
        </span>
        <span class="row">
          <a href="/metrics">Metrics</a>
          <a href="/docs">Documentation</a>
          <a href="/docs/reference">API reference</a>
          <a href="/openapi.json">OpenAPI</a>
        </span>
      </p>
      {point?.nodes != null && point.nodes > 1 && (
        <p class="hint">
          {point.nodes} servers share the store. The figures here are those of the one that this page has
          reached.
        </p>
      )}
    </section>
  )
}

function Now({ point: { documents, protocols } }: { readonly point: MetricPoint }) {
  const clients = protocols.map(([protocol, count]) => `${count.toLocaleString()} ${protocol}`)
  return (
    <span class="hint-inline">
      {formatCounted(documents ?? 0, 'document')} open
      {clients.length > 0 && `; connected: ${clients.join(', ')}`}
    </span>
  )
}

interface TroubleProps extends TokenPrompt {
  readonly error: ApiCallError | null
}

/** Explains missing metrics, with a remedy. It disappears when metrics are available again. */
export function MetricsProblem({ error, ...asked }: TroubleProps) {
  if (error === null) return null
  if (error.status === 'UNAUTHENTICATED') return <TokenForm {...asked} />
  if (error.status === 'OFFLINE')
    return (
      <Notice kind="bad">The server does not respond. Start it; this page continues automatically.</Notice>
    )
  return <Notice kind="bad">The metrics are not available at the moment ({error.message}); retrying.</Notice>
}

function TokenForm({ isRefused, onToken }: TokenPrompt) {
  const [token, setToken] = useState('')
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault()
        onToken(token.trim())
      }}
    >
      <p>The server requires a metrics token.</p>
      {isRefused && <Notice kind="bad">The server rejects this metrics token.</Notice>}
      <div class="row">
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
      </div>
    </form>
  )
}
