import type { IncomingMessage } from 'node:http'
import type { DocumentPath } from '../../model/address.ts'
import { misspelledName } from '../../text.ts'
import { readDocumentPath } from './document-path.ts'

/** An unknown parameter of the URL, and the known one that it most likely means. */
export interface Misspelling {
  readonly given: string
  readonly intended: string
}

interface Credentials {
  /** The first misspelled parameter, if any. */
  readonly misspelled: Misspelling | null
  readonly token: string | null
  /** Of the page that asks; undefined when it is none. */
  readonly origin: string | undefined
}

/** Documents that the client names later, with tokens of their own. */
export interface MultiplexedRequest extends Credentials {
  readonly kind: 'multiplexed'
}

export interface DocumentRequest extends Credentials {
  readonly kind: 'document'
  readonly path: DocumentPath
  /** `renew=1`: when the token ends, tell the client to reconnect with a new one. */
  readonly renews: boolean
  /** `live=1`: the client understands what a backend says to those who are connected. */
  readonly receivesLive: boolean
  /** `saved=1`: the client wants to know what of its updates is on the disk. */
  readonly wantsSaveAcks: boolean
}

/** What a client asks for when it connects. */
export type SyncRequest =
  | { readonly kind: 'otherPath' }
  | { readonly kind: 'invalid'; readonly reason: string }
  | MultiplexedRequest
  | DocumentRequest

const bearer = /^Bearer +(\S+)$/i

/**
 * Reads `/sync/{organizationId}/{documentId}/{editorId}?token=…`, each part percent-encoded, or `/hocuspocus`. The token
 * may come as `Authorization: Bearer` instead.
 */
export function readSyncRequest(request: IncomingMessage): SyncRequest {
  const [path, query = ''] = splitOnce(request.url ?? '', '?')
  const [root, endpoint, ...segments] = path.split('/')
  const parameters = new URLSearchParams(query)
  const token = parameters.get('token') ?? bearer.exec(request.headers.authorization ?? '')?.[1] ?? null
  const credentials: Credentials = {
    misspelled: misspelledIn(parameters),
    token,
    origin: request.headers.origin,
  }
  if (root === '' && endpoint === 'hocuspocus' && segments.every((segment) => segment === ''))
    return { kind: 'multiplexed', ...credentials }
  if (root !== '' || endpoint !== 'sync') return { kind: 'otherPath' }
  const { path: document, problem } = readDocumentPath(segments)
  if (document === null) return { kind: 'invalid', reason: problem }
  return {
    kind: 'document',
    path: document,
    ...credentials,
    renews: parameters.get('renew') === '1',
    receivesLive: parameters.get('live') === '1',
    wantsSaveAcks: parameters.get('saved') === '1',
  }
}

const knownParameters: readonly string[] = ['token', 'renew', 'live', 'saved']
/** Further parameters are not compared with the known ones. */
const comparedMax = 50

/** Clients of other servers send parameters of their own: those that resemble no known one are accepted. */
function misspelledIn(parameters: URLSearchParams): Misspelling | null {
  const names = [...parameters.keys()].slice(0, comparedMax)
  for (const given of names) {
    const intended = knownParameters.includes(given) ? null : misspelledName(given, knownParameters)
    if (intended !== null) return { given, intended }
  }
  return null
}

/** For people. It has at most a few letters more than a known name. */
export const describeMisspelling = ({ given, intended }: Misspelling): string =>
  `unknown parameter ${JSON.stringify(given)} (did you mean ${intended}?)`

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
