import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendJson } from './envelope.ts'

/** What a page answers with. */
export type PageContent =
  | { readonly kind: 'json'; readonly body: object }
  | {
      readonly kind: 'text'
      readonly type: string
      readonly text: string
      /** Instead of the policy that lets nothing run. */
      readonly contentSecurityPolicy?: string
    }

/** Something to GET, outside the REST service. */
export interface Page {
  readonly path: string
  /** @throws ApiError answered in the envelope */
  content(request: IncomingMessage): PageContent | Promise<PageContent>
}

export async function sendPage(
  page: Page,
  request: IncomingMessage,
  response: ServerResponse & { readonly locals: Record<string, unknown> },
): Promise<void> {
  response.locals.route = page.path
  const content = await page.content(request)
  if (content.kind === 'json') return sendJson(response, 200, content.body)
  if (content.contentSecurityPolicy !== undefined)
    response.setHeader('content-security-policy', content.contentSecurityPolicy)
  response.setHeader('content-type', content.type)
  response.setHeader('content-length', Buffer.byteLength(content.text))
  response.end(content.text)
}
