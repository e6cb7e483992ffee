import type { ApiClient } from '../api/client.ts'

/** Address of the playground's document. Each API key has its own document with this address. */
export const playgroundAddress = {
  organizationId: 'playground',
  documentId: 'welcome',
  editorId: 'main',
} as const

/** Name of the root that contains the text. It is the name that editor libraries usually use. */
export const contentKey = 'content'

/** Name of the room in the path of the websocket. */
export const room = Object.values(playgroundAddress).join('/')

/** Initial content of the document. */
export const welcome = [
  '<heading level="2">Welcome to Weft</heading>',
  '<paragraph>This is one document in any number of windows. Your edits and your cursor appear in all of them at once.</paragraph>',
  '<bullet_list>',
  '<list_item><paragraph>Open a second window, and type in both.</paragraph></list_item>',
  '<list_item><paragraph>Put your cursor into this line, and rewrite the text by REST: your cursor stays.</paragraph></list_item>',
  '<list_item><paragraph>Reload the page, or restart the server: all saved edits are there.</paragraph></list_item>',
  '</bullet_list>',
].join('')

const stamped = /Rewritten by REST at [\d:]+\./
/** Tags of formatting, which may be inside the sentence. */
const formatting = /<\/?(?:em|strong)>/g

/**
 * Returns the edit that writes a sentence about the rewrite. The sentence replaces the sentence of an earlier
 * rewrite, or becomes the first paragraph.
 */
export function rewriteEdit(xml: string, time: string): object {
  const sentence = `Rewritten by REST at ${time}.`
  const [earlier] = stamped.exec(xml.replace(formatting, '')) ?? []
  return earlier === undefined
    ? { insert: { at: 'start', content: sentence } }
    : { replace: { find: earlier, with: sentence, occurrence: 1 } }
}

interface Content {
  readonly data: string
  readonly version: string
}

/**
 * Does what a backend would do: reads the text, and sends the edit of one sentence. Concurrent edits of users
 * are merged.
 * @returns the data of the call that has written the sentence
 * @throws ApiCallError
 */
export async function rewrite(api: ApiClient, now: Date): Promise<object> {
  const [content] = await api.call<readonly [Content]>('/v2/crdt/get', { ...playgroundAddress, contentKey })
  const data = {
    ...playgroundAddress,
    contentKey,
    edits: [rewriteEdit(content.data, now.toTimeString().slice(0, 8))],
    baseVersion: content.version,
  }
  await api.call('/v2/crdt/edit', data)
  return data
}

/** Returns a curl command for the call of a rewrite. */
export function rewriteCurl(origin: string, data: object): string {
  return [
    `curl ${origin}/v2/crdt/edit \\`,
    "  -H 'content-type: application/json' \\",
    '  -H "x-service-api-key: $WEFT_API_KEY" \\',
    '  -H "x-service-auth-token: $WEFT_AUTH_TOKEN" \\',
    `  -d '${JSON.stringify({ data })}'`,
  ].join('\n')
}
