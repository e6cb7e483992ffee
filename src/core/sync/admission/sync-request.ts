import type { IncomingMessage } from 'node:http'
import { readBearer } from '../../access/credentials/credential-headers.ts'
import { type DocumentPath, decodeSegment, idProblem } from '../../model/address.ts'

interface Credentials {
  readonly token: string | null
  /** Origin of the page; undefined if the client is not a page. */
  readonly origin: string | undefined
  /** Version of the schema that the client has (`schemaVersion=2`); null if it announces none. */
  readonly schemaVersion: number | null
}

/**
 * A request for a websocket that carries several documents. After the upgrade, the client sends the name of
 * each document with a token.
 */
export interface MultiplexedRequest extends Credentials {
  readonly kind: 'multiplexed'
  /** The only document that the client may open; null if it may open several. */
  readonly only: DocumentPath | null
}

export interface DocumentRequest extends Credentials {
  readonly kind: 'document'
  readonly path: DocumentPath
  /**
   * `renew=1`: when the token expires, the server closes the socket with a code after which the client
   * reconnects with a new token.
   */
  readonly renews: boolean
  /** `live=1`: the client understands live messages from backends. */
  readonly receivesLive: boolean
  /** `saved=1`: the client requests acknowledgments of durable updates. */
  readonly wantsSaveAcks: boolean
  /** `echo=1`: the client requests its own updates when they are durable. */
  readonly echoes: boolean
  /** `role=1`: the client requests its role, and each change of it. */
  readonly wantsRole: boolean
}

/** The parsed upgrade request of a client. */
export type SyncRequest =
  | { readonly kind: 'otherPath' }
  | { readonly kind: 'invalid'; readonly reason: string }
  | MultiplexedRequest
  | DocumentRequest

const sessionSecret = /^Session +(\S+)$/i

const isEmpty = (segments: readonly string[]): boolean => segments.every((segment) => segment === '')

interface SplitRequest {
  readonly endpoint: string | undefined
  /** Parts of the path after the endpoint, each percent-encoded. */
  readonly segments: readonly string[]
  readonly parameters: URLSearchParams
  readonly credentials: Credentials
}

/** Returns whether the path of an upgrade request belongs to Weft. */
export const isSyncRequest = (request: IncomingMessage): boolean =>
  readSyncRequest(request).kind !== 'otherPath'

/**
 * Parses an upgrade request. The URL is `/sync/{organizationId}/{documentId}/{editorId}?token=…` (each part
 * percent-encoded) or `/hocuspocus`. The token may instead be in the header `Authorization: Bearer`.
 */
export function readSyncRequest(request: IncomingMessage): SyncRequest {
  const { endpoint, segments, parameters, credentials } = readParts(request)
  if (endpoint === 'hocuspocus' && isEmpty(segments))
    return { kind: 'multiplexed', only: null, ...credentials }
  return endpoint === 'sync' ? readDocumentRequest(segments, parameters, credentials) : { kind: 'otherPath' }
}

/** A request for a session over HTTP. */
interface HttpSyncRequest {
  readonly requested: SyncRequest
  readonly parameters: URLSearchParams
  /** Secret of the session: the token, or the value of `Authorization: Session`. Null if there is none. */
  readonly secret: string | null
}

/**
 * Parses a request for a session over HTTP. The URL is `/sync-http/{organizationId}/{documentId}/{editorId}`. With
 * `dialect=hocuspocus`, the messages are those of HocuspocusProvider, and the path may be left out: then the
 * connection carries several documents.
 */
export function readHttpSyncRequest(request: IncomingMessage): HttpSyncRequest {
  const { segments, parameters, credentials } = readParts(request)
  const secret = credentials.token ?? sessionSecret.exec(request.headers.authorization ?? '')?.[1] ?? null
  const isHocuspocus = parameters.get('dialect') === 'hocuspocus'
  if (isHocuspocus && isEmpty(segments))
    return { requested: { kind: 'multiplexed', only: null, ...credentials }, parameters, secret }
  const document = readDocumentRequest(segments, parameters, credentials)
  const requested: SyncRequest =
    isHocuspocus && document.kind === 'document'
      ? { kind: 'multiplexed', only: document.path, ...credentials }
      : document
  return { requested, parameters, secret }
}

/** Returns whether a GET requests the events of a session over HTTP as a stream, and not as a long poll. */
export const isEventStreamRequest = ({ url = '', headers }: IncomingMessage): boolean =>
  url.startsWith('/sync-http') &&
  !/[?&]wait=/.test(url) &&
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined &&
  headers.expect === undefined

function readParts(request: IncomingMessage): SplitRequest {
  const [path, query = ''] = splitOnce(request.url ?? '', '?')
  const [root, endpoint, ...segments] = path.split('/')
  const parameters = new URLSearchParams(query)
  const given = parameters.get('token')
  // An empty parameter counts as absent.
  const token = given === null || given === '' ? readBearer(request.headers) : given
  const version = parameters.get('schemaVersion')
  // A version that is not a number is older than all others.
  const schemaVersion = version === null || version === '' ? null : Number(version) || 0
  const credentials: Credentials = { token, origin: request.headers.origin, schemaVersion }
  return { endpoint: root === '' ? endpoint : undefined, segments, parameters, credentials }
}

function readDocumentRequest(
  segments: readonly string[],
  parameters: URLSearchParams,
  credentials: Credentials,
): SyncRequest {
  const { path: document, problem } = readDocumentPath(segments)
  if (document === null) return { kind: 'invalid', reason: problem }
  return {
    kind: 'document',
    path: document,
    ...credentials,
    renews: parameters.get('renew') === '1',
    receivesLive: parameters.get('live') === '1',
    wantsSaveAcks: parameters.get('saved') === '1',
    echoes: parameters.get('echo') === '1',
    wantsRole: parameters.get('role') === '1',
  }
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

type ReadPath =
  | { readonly path: DocumentPath; readonly problem: null }
  | { readonly path: null; readonly problem: string }

const names = ['organizationId', 'documentId', 'editorId'] as const

/**
 * Parses a document path. Returns the path, or the problem if it is invalid.
 * @param segments organization, document and editor, each percent-encoded
 */
export function readDocumentPath(segments: readonly string[]): ReadPath {
  const [organizationId, documentId, editorId] = segments.map(decodeSegment)
  if (segments.length !== 3 || organizationId == null || documentId == null || editorId == null)
    return { path: null, problem: 'a document is {organizationId}/{documentId}/{editorId}' }
  const path: DocumentPath = { organizationId, documentId, editorId }
  for (const name of names) {
    const problem = idProblem(path[name])
    if (problem !== null) return { path: null, problem: `${name} ${problem}` }
  }
  return { path, problem: null }
}
