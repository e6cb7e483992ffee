import { useState } from 'preact/hooks'
import type { AuthInspectTokenData } from '../../client/api/operation-types.ts'
import { useApi } from '../api/hooks.ts'
import { sessionValues } from '../api/session-values.ts'
import { LocalTime, TextField } from '../ui/controls.tsx'
import { ActionForm } from '../ui/form.tsx'
import { Notice } from '../ui/notice.tsx'
import { DefinitionList } from '../ui/table.tsx'

/** The readable parts of a JWT. */
interface DecodedToken {
  readonly header: object
  readonly claims: object
}

/** Decodes a JWT without checking it; null if it is not a JWT. */
function decodeToken(token: string): DecodedToken | null {
  const [header = '', claims = '', signature, ...rest] = token.split('.')
  if (signature === undefined || rest.length > 0) return null
  const [decodedHeader, decodedClaims] = [objectIn(header), objectIn(claims)]
  if (decodedHeader === null || decodedClaims === null) return null
  return { header: decodedHeader, claims: decodedClaims }
}

function objectIn(part: string): object | null {
  try {
    const bytes = atob(part.replaceAll('-', '+').replaceAll('_', '/'))
    const text = new TextDecoder('utf-8', { fatal: true }).decode(
      Uint8Array.from(bytes, (character) => character.charCodeAt(0)),
    )
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/**
 * Shows what a token contains and what it permits. The token stays in this form until the user leaves the
 * page.
 */
export function TokenInspector() {
  const api = useApi()
  const [token, setToken] = useState('')
  const [organizationId, setOrganization] = useState(sessionValues().organizationId ?? '')
  const [documentId, setDocument] = useState(sessionValues().documentId ?? '')
  const [found, setFound] = useState<AuthInspectTokenData | null>(null)
  const check = async () => {
    setFound(null)
    const document = organizationId === '' && documentId === '' ? {} : { organizationId, documentId }
    setFound(await api.call<AuthInspectTokenData>('/v2/auth/inspect_token', { token, ...document }))
  }
  const change = (set: (value: string) => void) => (value: string) => {
    set(value.trim())
    setFound(null)
  }
  return (
    <>
      <ActionForm
        label="Inspect a token"
        action="Check with the server"
        primary
        stacked
        disabled={token === ''}
        act={check}
      >
        <TextField
          label="Token"
          rows={4}
          value={token}
          onInput={change(setToken)}
          autocomplete="off"
          hint="The realtime token of a client. The page decodes it in your browser. The server checks it only when you ask, and neither stores nor logs it."
        />
        <div class="row fields">
          <TextField label="Organization id" value={organizationId} onInput={change(setOrganization)} />
          <TextField label="Document id" value={documentId} onInput={change(setDocument)} />
        </div>
        <p class="hint">With a document, the server also computes the present role of the user on it.</p>
      </ActionForm>
      {found !== null && <Verdict found={found} />}
      {token !== '' && <Decoded token={token} />}
    </>
  )
}

function Verdict({ found }: { readonly found: AuthInspectTokenData }) {
  const { accepted, message, reason, issuedAt, expiresAt, resources, accessRole, documentState } = found
  if (!accepted)
    return (
      <Notice kind="bad">
        The server rejects this token: {message} ({reason}).
      </Notice>
    )
  return (
    <section class="card" aria-label="Result of the server">
      <Notice kind="good">A client can connect with this token.</Notice>
      <DefinitionList
        of={[
          ['User', [found.userId, found.name, found.email].filter(Boolean).join(', ')],
          ['Role on the document', accessRole === undefined ? null : describeRole(accessRole, documentState)],
          ['Admin', found.isAdmin === true ? 'edits all documents of the API key' : null],
          ['Issued', issuedAt === undefined || issuedAt === 0 ? 'unknown' : <LocalTime at={issuedAt} />],
          ['Expires', expiresAt === undefined ? null : <LocalTime at={expiresAt} />],
          [
            'Permissions',
            resources === undefined ? 'the permissions of the user' : <Resources of={resources} />,
          ],
        ]}
      />
    </section>
  )
}

function describeRole(role: string, state: AuthInspectTokenData['documentState']): string {
  if (state === 'disabled') return 'none: the document is disabled'
  if (state === 'deleted') return 'none: the document is being removed'
  return role === 'none' ? 'none: the server closes the connection with 4404' : role
}

const Resources = ({ of }: { readonly of: NonNullable<AuthInspectTokenData['resources']> }) =>
  of.length === 0 ? (
    <>none</>
  ) : (
    <ul class="choices">
      {of.map(({ type, id, organizationId, accessRole }) => (
        <li key={`${type} ${organizationId} ${id}`}>
          {accessRole} of the {type} {id}
          {type !== 'organization' && ` in ${organizationId}`}
        </li>
      ))}
    </ul>
  )

function Decoded({ token }: { readonly token: string }) {
  const decoded = decodeToken(token)
  if (decoded === null)
    return <Notice kind="bad">This is not a JWT: three parts with dots between them.</Notice>
  return (
    <section class="card" aria-label="Content of the token">
      <h2>Content of the token</h2>
      <p class="hint">Decoded in your browser, and not verified.</p>
      <pre>{JSON.stringify(decoded.header, null, 2)}</pre>
      <pre>{JSON.stringify(decoded.claims, null, 2)}</pre>
    </section>
  )
}
