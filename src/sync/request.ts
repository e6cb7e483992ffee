import type { IncomingMessage } from 'node:http'
import { type DocumentPath, decodeSegment, idProblem } from '../model/address.ts'

/** What a client asks for when it connects. */
export type SyncRequest =
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'bad'; readonly reason: string }
  | {
      readonly kind: 'document'
      readonly path: DocumentPath
      readonly token: string | null
      /** Of the page that asks; undefined when it is none. */
      readonly origin: string | undefined
      /** `renew=1`: when the token ends, tell the client to reconnect with a new one. */
      readonly renews: boolean
      /** `live=1`: the client understands what a backend says to those who are connected. */
      readonly listens: boolean
    }

const pathNames = ['organizationId', 'documentId', 'editorId'] as const

const bearer = /^Bearer +(\S+)$/i

/**
 * Reads `/sync/{organizationId}/{documentId}/{editorId}?token=…`, each part percent-encoded. The token may come as
 * `Authorization: Bearer` instead.
 */
export function readSyncRequest(request: IncomingMessage): SyncRequest {
  const [path, query = ''] = splitOnce(request.url ?? '', '?')
  const [root, sync, ...segments] = path.split('/')
  if (root !== '' || sync !== 'sync') return { kind: 'elsewhere' }
  const ids = segments.map(decodeSegment)
  const [organizationId, documentId, editorId] = ids
  if (ids.length !== 3 || organizationId == null || documentId == null || editorId == null) {
    return { kind: 'bad', reason: 'the path is /sync/{organizationId}/{documentId}/{editorId}' }
  }
  const asked: DocumentPath = { organizationId, documentId, editorId }
  for (const name of pathNames) {
    const problem = idProblem(asked[name])
    if (problem !== null) return { kind: 'bad', reason: `${name} ${problem}` }
  }
  const parameters = new URLSearchParams(query)
  return {
    kind: 'document',
    path: asked,
    token: parameters.get('token') ?? bearer.exec(request.headers.authorization ?? '')?.[1] ?? null,
    origin: request.headers.origin,
    renews: parameters.get('renew') === '1',
    listens: parameters.get('live') === '1',
  }
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
