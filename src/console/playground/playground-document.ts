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
