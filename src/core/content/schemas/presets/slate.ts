import type { XmlTextSchema } from '../check-xmltext.ts'

/** Slate: nested texts only. Slate has no names of its own, so a node may have any type, or none. */
export const slateSchema: XmlTextSchema = {
  is: 'xmltext',
  contentKey: 'content',
  topNode: 'editor',
  typeAttribute: 'type',
  texts: null,
  maps: new Set(),
  elements: new Set(),
}
