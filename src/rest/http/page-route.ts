import type { IncomingMessage } from 'node:http'
import type { EntryPoint } from '../../core/audit/rejections.ts'
import type { CallAuditor } from './call-auditor.ts'
import { sendJson } from './envelope.ts'
import type { Edge } from './operation-steps.ts'
import { PacedRequest } from './paced-request.ts'
import { writePiece } from './sending.ts'
import type { ServedResponse } from './served-response.ts'
import { countUnread } from './unread-responses.ts'

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

export type PageBody =
  | { readonly kind: 'json'; readonly body: object }
  | {
      readonly kind: 'text'
      readonly type: string
      /** A large body must be bytes that are created once and shared by all responses in progress. */
      readonly text: string | Buffer
      /** Headers that are added to the default headers of every response, or that replace them. */
      readonly headers?: Readonly<Record<string, string>>
    }
  /** 304: the client has the current version. 302: the page is elsewhere. */
  | {
      readonly kind: 'empty'
      readonly status: 302 | 304
      readonly headers: Readonly<Record<string, string>>
    }
  | { readonly kind: 'stream'; readonly type: string; readonly chunks: Bytes }

/** A page for GET requests, outside of the REST API. */
export interface PageRoute {
  /** Path of the page, in the form of Express. */
  readonly path: string
  /** Label of the page in the metrics. Set if several pages have the same label; default: `path`. */
  readonly route?: string
  /**
   * Number of calls that one request counts as, in the rate limit of the client's address; 0 for pages that
   * monitoring must always reach. Always 1 for a path with parameters.
   */
  readonly calls: number
  /** Type of the required credentials. Requests with rejected credentials are counted. */
  readonly door?: EntryPoint
  /** True if the page returns secrets. The audit log then records each request. */
  readonly isAudited?: true
  /**
   * Returns the body of the page.
   * @throws ApiError that is sent in the envelope
   */
  content(request: IncomingMessage): PageBody | Promise<PageBody>
}

export async function sendPage(
  page: PageRoute,
  request: IncomingMessage,
  response: ServedResponse,
  { auditor, quotas }: Pick<Edge, 'auditor' | 'quotas'>,
): Promise<void> {
  const content = await contentOf(page, request, auditor)
  const send = () => sendContent(content, request, response, quotas)
  if (page.isAudited) await auditor.runPage(page.path, request, response.weftLocals.requestId, send)
  else await send()
}

async function contentOf(page: PageRoute, request: IncomingMessage, auditor: CallAuditor): Promise<PageBody> {
  try {
    return await page.content(request)
  } catch (error) {
    if (page.door !== undefined) auditor.refused(page.door, error, request)
    throw error
  }
}

/** Number of bytes of a page that take as long to send as a chunk of a body takes to receive, approximately. */
const bytesPerPiece = 16_384

async function sendContent(
  content: PageBody,
  request: IncomingMessage,
  response: ServedResponse,
  quotas: Edge['quotas'],
): Promise<void> {
  if (content.kind === 'json') return sendJson(response, 200, content.body)
  if (content.kind === 'stream') return sendStream(content.type, content.chunks, request, response, quotas)
  for (const [name, value] of Object.entries(content.headers ?? {})) response.setHeader(name, value)
  if (content.kind === 'empty') return void response.writeHead(content.status).end()
  response.setHeader('content-type', content.type)
  const length = Buffer.byteLength(content.text)
  if (request instanceof PacedRequest) request.countPieces(1 + length / bytesPerPiece)
  response.setHeader('content-length', length)
  response.weftLocals.isCachedPage = Buffer.isBuffer(content.text)
  response.end(content.text)
}

/**
 * Sends a stream. Its reader is disconnected if it is too slow, because the store keeps resources in use for the
 * stream. The length of the stream is not known in advance, so the reader must check from the bytes whether they are
 * complete.
 */
async function sendStream(
  type: string,
  chunks: Bytes,
  { method }: IncomingMessage,
  response: ServedResponse,
  { unread }: Edge['quotas'],
): Promise<void> {
  response.setHeader('content-type', type)
  if (method === 'HEAD') return void response.end()
  for await (const chunk of chunks)
    await writePiece(response, chunk, () => countUnread(unread, response, chunk.length))
  response.end()
}
