import type { ApiClient } from '../console/api/client.ts'
import { contentKey, playgroundAddress } from './playground-document.ts'

const stamped = /Rewritten by REST at [\d:]+\./
const firstText = /<paragraph((?:\s(?:"[^"<]*"|[^"<>/])*)?)(\/?)>/

/**
 * Returns the text with a sentence about the rewrite. The sentence replaces the sentence of an earlier
 * rewrite, or is inserted at the start.
 */
export function rewritten(xml: string, time: string): string {
  const sentence = `Rewritten by REST at ${time}.`
  if (stamped.test(xml)) return xml.replace(stamped, sentence)
  if (!firstText.test(xml)) return `${xml}<paragraph>${sentence}</paragraph>`
  return xml.replace(firstText, (_whole, attributes: string, empty: string) =>
    empty === '' ? `<paragraph${attributes}>${sentence} ` : `<paragraph${attributes}>${sentence}</paragraph>`,
  )
}

interface Content {
  readonly data: string
  readonly version: string
}

/**
 * Does what a backend would do: reads the text, changes it, and replaces it. Concurrent edits of users are
 * merged.
 * @throws ApiCallError
 */
export async function rewrite(api: ApiClient, now: Date): Promise<void> {
  const [content] = await api.call<readonly [Content]>('/v2/crdt/get', { ...playgroundAddress, contentKey })
  await api.call('/v2/crdt/update', {
    ...playgroundAddress,
    contentKey,
    type: 'xml',
    data: rewritten(content.data, now.toTimeString().slice(0, 8)),
    baseVersion: content.version,
  })
}

/** Returns a curl command that replaces the text of the document through the REST API. */
export function rewriteCurl(origin: string): string {
  const body = { ...playgroundAddress, type: 'xml', data: '<paragraph>Written by REST.</paragraph>' }
  return [
    `curl ${origin}/v2/crdt/update \\`,
    "  -H 'content-type: application/json' \\",
    '  -H "x-service-api-key: $WEFT_API_KEY" \\',
    '  -H "x-service-auth-token: $WEFT_AUTH_TOKEN" \\',
    `  -d '${JSON.stringify({ data: body })}'`,
  ].join('\n')
}
