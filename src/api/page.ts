import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Door } from '../audit/refusals.ts'
import type { Auditor } from './auditor.ts'
import { ClientGone } from './body.ts'
import { sendJson } from './envelope.ts'

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** What a page answers with. */
export type PageContent =
  | { readonly kind: 'json'; readonly body: object }
  | {
      readonly kind: 'text'
      readonly type: string
      /** Bytes where it is large: made once, and the same for all who are being sent them. */
      readonly text: string | Buffer
      /** Instead of the policy that lets nothing run. */
      readonly contentSecurityPolicy?: string
      /** Besides those, or instead of those, that every answer has. */
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Who asks has it already. */
  | { readonly kind: 'unchanged'; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'stream'; readonly type: string; readonly chunks: Bytes }

/** Something to GET, outside the REST service. */
export interface Page {
  readonly path: string
  /** As how many calls from an address it counts; none where those who watch over us must be answered. */
  readonly calls: number
  /** Whose credentials it asks for: those that are refused are counted. */
  readonly door?: Door
  /** It hands out what no one else may have: that is recorded. */
  readonly isAudited?: true
  /** @throws ApiError answered in the envelope */
  content(request: IncomingMessage): PageContent | Promise<PageContent>
}

export async function sendPage(
  page: Page,
  request: IncomingMessage,
  response: ServerResponse & { readonly locals: Record<string, unknown> },
  auditor: Auditor,
): Promise<void> {
  response.locals.route = page.path
  const content = await contentOf(page, request, auditor)
  const send = () => sendContent(content, request, response)
  if (page.isAudited) await auditor.runPage(page.path, request, String(response.locals.requestId), send)
  else await send()
}

async function contentOf(page: Page, request: IncomingMessage, auditor: Auditor): Promise<PageContent> {
  try {
    return await page.content(request)
  } catch (error) {
    if (page.door !== undefined) auditor.refused(page.door, error, request)
    throw error
  }
}

async function sendContent(
  content: PageContent,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (content.kind === 'json') return sendJson(response, 200, content.body)
  if (content.kind === 'stream') return sendStream(content.type, content.chunks, request, response)
  for (const [name, value] of Object.entries(content.headers ?? {})) response.setHeader(name, value)
  if (content.kind === 'unchanged') return void response.writeHead(304).end()
  if (content.contentSecurityPolicy !== undefined)
    response.setHeader('content-security-policy', content.contentSecurityPolicy)
  response.setHeader('content-type', content.type)
  response.setHeader('content-length', Buffer.byteLength(content.text))
  response.end(content.text)
}

/** Of a reader that takes nothing, in ms: what is being read for it is held in the store meanwhile. */
const stalledMs = 60_000

/** Its length is not known: whoever reads tells by its bytes whether they are all. */
async function sendStream(
  type: string,
  chunks: Bytes,
  { method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('content-type', type)
  if (method === 'HEAD') return void response.end()
  response.setTimeout(stalledMs, () => response.destroy())
  try {
    await pipeline(Readable.from(chunks), response)
  } catch (error) {
    if (isGone(error)) throw new ClientGone()
    throw error
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
