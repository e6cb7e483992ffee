import * as Y from 'yjs'

/**
 * The kind of root that one item of a sequence indicates. A shared type (`value`) may be in an array or in a
 * text.
 */
export type Evidence = 'text' | 'xmltext' | 'array' | 'element' | 'value'

/** Returns the evidence in the content of a live item. */
export const evidenceOf = (content: Y.Item['content']): Evidence => evidence(content, isLive)

/** Returns the evidence in the content of a deleted item that Yjs has not collected yet. */
export const deletedEvidenceOf = (content: Y.Item['content']): Evidence => evidence(content, () => true)

export const isLive = ({ deleted }: Y.Item): boolean => !deleted

function evidence(content: Y.Item['content'], counts: (item: Y.Item) => boolean): Evidence {
  if (
    content instanceof Y.ContentString ||
    content instanceof Y.ContentFormat ||
    content instanceof Y.ContentEmbed
  ) {
    return 'text'
  }
  if (!(content instanceof Y.ContentType)) return 'array'
  const { type } = content
  if (type instanceof Y.XmlText && isRich(type, counts)) return 'xmltext'
  // A fragment that is not an element cannot be in XML: it is the value of an array.
  return type instanceof Y.XmlElement || type instanceof Y.XmlText || type instanceof Y.XmlHook
    ? 'element'
    : 'value'
}

/**
 * Returns whether a text has attributes of its own or contains shared values. In XML it has neither; for
 * Lexical and Slate it has.
 */
function isRich(text: Y.XmlText, counts: (item: Y.Item) => boolean): boolean {
  for (const item of text._map.values()) if (counts(item)) return true
  for (let item = text._start; item !== null; item = item.right) {
    if (counts(item) && item.content instanceof Y.ContentType) return true
  }
  return false
}
