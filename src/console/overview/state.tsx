import { useState } from 'preact/hooks'
import type { CallError } from '../api.ts'
import { Button, Field } from '../ui/controls.tsx'
import { counted } from '../ui/figures.ts'
import { Notice } from '../ui/notice.tsx'
import { useVersion } from '../version.ts'
import type { Point } from './figures.ts'
import type { TokenAsked } from './watching.ts'

interface ServerProps {
  readonly unready: string | null
  readonly point: Point | undefined
}

/** What the server is, whether requests should be sent to it, and where it says more. */
export function Server({ unready, point }: ServerProps) {
  const { data } = useVersion()
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
          <a href="/docs/api">Try REST</a>
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

function Now({ point: { documents, protocols } }: { readonly point: Point }) {
  const clients = protocols.map(([protocol, count]) => `${count.toLocaleString()} ${protocol}`)
  return (
    <span class="hint-inline">
      {counted(documents ?? 0, 'document')} open
      {clients.length > 0 && `; connected: ${clients.join(', ')}`}
    </span>
  )
}

interface TroubleProps extends TokenAsked {
  readonly error: CallError | null
}

/** Why there are no figures, and what to do. Once there are some again it is gone by itself. */
export function Trouble({ error, ...asked }: TroubleProps) {
  if (error === null) return null
  if (error.status === 'UNAUTHENTICATED') return <TokenForm {...asked} />
  if (error.status === 'OFFLINE')
    return <Notice kind="bad">The server does not answer. Start it; this page goes on by itself.</Notice>
  return (
    <Notice kind="bad">
      The metrics cannot be read at the moment ({error.message}); they are asked for again.
    </Notice>
  )
}

function TokenForm({ isRefused, onToken }: TokenAsked) {
  const [token, setToken] = useState('')
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault()
        onToken(token.trim())
      }}
    >
      <p>The server shows its figures only to who has its metrics token.</p>
      {isRefused && <Notice kind="bad">This is not the token that the server asks for.</Notice>}
      <div class="row">
        <Field
          label="Metrics token"
          type="password"
          value={token}
          onInput={setToken}
          hint="WEFT_METRICS_TOKEN of the server; kept until this tab is closed."
        />
        <Button type="submit" disabled={token.trim() === ''}>
          Show the figures
        </Button>
      </div>
    </form>
  )
}
