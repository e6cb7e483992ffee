import { applyUpdate, Doc, encodeStateAsUpdate, XmlElement } from 'yjs'

/**
 * Writes the first block of a new document. BlockNote would write it with the first text of a user. Then undo would
 * remove it with the text of the others, and two users who begin at the same time would write two of them, of which
 * BlockNote keeps only one. This one has the same id of a Yjs client in all browsers, so it is always the same block.
 */
export function addFirstBlock(doc) {
  if (doc.getXmlFragment('blocknote').length > 0) return
  const first = new Doc()
  first.clientID = 1
  const [group, block] = [new XmlElement('blockGroup'), new XmlElement('blockContainer')]
  block.setAttribute('id', 'initialBlockId')
  block.insert(0, [new XmlElement('paragraph')])
  group.insert(0, [block])
  first.getXmlFragment('blocknote').insert(0, [group])
  applyUpdate(doc, encodeStateAsUpdate(first))
}
