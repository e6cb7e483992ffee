import { type MarkSpec, type Node, type NodeSpec, Schema } from 'prosemirror-model'
import { updateYFragment, yXmlFragmentToProseMirrorRootNode } from 'y-prosemirror'
import * as Y from 'yjs'
import { replaceContent } from '../../src/core/content/replace.ts'

export const contentKey = 'content'

/** A method that replaces the XML of a document. */
export interface XmlReplacer {
  readonly name: string
  /** Prepares the replacement with a target. The preparation is not measured. */
  prepare(xml: string): (doc: Y.Doc) => void
}

const weftReplace = (doc: Y.Doc, xml: string): void => {
  replaceContent(doc, { type: 'xml', contentKey, data: xml })
}

const weft: XmlReplacer = {
  name: 'Weft',
  prepare: (xml) => (doc) => weftReplace(doc, xml),
}

/** Creates a document that contains only this XML. */
export function fresh(xml: string): Y.Doc {
  const doc = new Y.Doc()
  weftReplace(doc, xml)
  doc.getXmlFragment(contentKey)
  return doc
}

const whole: XmlReplacer = {
  name: 'whole replacement',
  prepare: (xml) => {
    const target = fresh(xml).getXmlFragment(contentKey)
    return (doc) => {
      const root = doc.getXmlFragment(contentKey)
      doc.transact(() => {
        root.delete(0, root.length)
        root.insert(
          0,
          target.toArray().map((child) => (child as Y.XmlElement).clone()),
        )
      })
    }
  },
}

const yProsemirror: XmlReplacer = {
  name: "y-prosemirror's updateYFragment",
  prepare: (xml) => {
    const node = nodeOf(fresh(xml))
    return (doc) =>
      updateYFragment(doc, doc.getXmlFragment(contentKey), node, { mapping: new Map(), isOMark: new Map() })
  },
}

/** All methods. The others are compared with the first one, which is that of Weft. */
export const xmlReplacers: readonly XmlReplacer[] = [weft, whole, yProsemirror]

/**
 * Converts the content to a ProseMirror node. The schema allows all elements and marks that the content has.
 */
function nodeOf(doc: Y.Doc): Node {
  const root = doc.getXmlFragment(contentKey)
  const nodes: Record<string, NodeSpec> = { doc: { content: 'any*' }, text: { group: 'any' } }
  const marks: Record<string, MarkSpec> = {}
  const visit = (type: Y.XmlFragment): void => {
    for (const child of type.toArray()) {
      if (child instanceof Y.XmlElement) {
        const attrs = { ...nodes[child.nodeName]?.attrs }
        for (const name of Object.keys(child.getAttributes())) attrs[name] = { default: null }
        nodes[child.nodeName] = { content: 'any*', group: 'any', inline: true, attrs }
        visit(child)
      } else if (child instanceof Y.XmlText) {
        for (const { attributes } of child.toDelta() as { attributes?: object }[])
          for (const name of Object.keys(attributes ?? {})) marks[name] = {}
      }
    }
  }
  visit(root)
  return yXmlFragmentToProseMirrorRootNode(
    root,
    new Schema({ nodes: nodes as { doc: NodeSpec; text: NodeSpec }, marks }),
  )
}
