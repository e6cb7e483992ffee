import {
  type DefaultTreeAdapterMap,
  type DefaultTreeAdapterTypes,
  defaultTreeAdapter,
  parseFragment,
  type TreeAdapter,
} from 'parse5'
import { limits } from '../../model/limits.ts'
import { contentLimit } from '../content-error.ts'
import { xmlText } from '../xml/names.ts'

export type HtmlNode = DefaultTreeAdapterTypes.ChildNode
export type HtmlElement = DefaultTreeAdapterTypes.Element

/** Maximum number of open elements while HTML is parsed. */
const openMax = 512

/**
 * Parses a fragment of HTML, or the body of a document, as a browser does.
 * @throws ApiError INVALID_ARGUMENT if it exceeds a limit
 */
export const parseHtml = (html: string): readonly HtmlNode[] =>
  parseFragment(xmlText(html), { treeAdapter: boundedAdapter() }).childNodes

/** Returns a builder of trees that counts nodes and open elements. White space between elements is free. */
function boundedAdapter(): TreeAdapter<DefaultTreeAdapterMap> {
  let [nodes, open] = [0, 0]
  let counted: HtmlNode | undefined
  const countNode = (): void => {
    nodes += 1
    if (nodes > limits.nodes) throw contentLimit(`data has too much: HTML has at most ${limits.nodes} nodes`)
  }
  return {
    ...defaultTreeAdapter,
    createElement: (name, namespace, attributes) => {
      countNode()
      return defaultTreeAdapter.createElement(name, namespace, attributes)
    },
    insertText: (parent, text) => {
      defaultTreeAdapter.insertText(parent, text)
      // The parser inserts the words of a text one by one.
      const last = parent.childNodes.at(-1)
      if (last === counted || isBlank(text)) return
      counted = last
      countNode()
    },
    onItemPush: () => {
      open += 1
      if (open > openMax)
        throw contentLimit(`data has too much: elements of HTML are at most ${openMax} deep`)
    },
    onItemPop: () => {
      open -= 1
    },
  }
}

export const isElement = (node: HtmlNode): node is HtmlElement => 'tagName' in node

/** Returns whether a text is only white space, which HTML does not show between blocks. */
export const isBlank = (text: string): boolean => !/[^ \t\n\r\f]/.test(text)

/** Returns the value of an attribute; null if the element does not have it. */
export const htmlAttribute = ({ attrs }: HtmlElement, name: string): string | null =>
  attrs.find((attribute) => attribute.name === name)?.value ?? null

/** Returns the text of nodes. Line breaks are `\n`. */
export function textOf(nodes: readonly HtmlNode[]): string {
  let text = ''
  for (const node of nodes) {
    if ('value' in node) text += node.value
    else if (isElement(node)) text += node.tagName === 'br' ? '\n' : textOf(node.childNodes)
  }
  return text
}

/**
 * Content that blocks cannot represent appears as an element with the id of the stored node: a block as
 * `<div data-weft-block="id">`, an atom in a line as `<span data-weft-inline="id">`. Its content has no
 * meaning.
 */

export const blockAttribute = 'data-weft-block'

/** Attribute of the placeholder of an atom in a line. */
export const atomAttribute = 'data-weft-inline'

/** Attribute of a line break that is the whole content of its line. Without it, such a line is empty. */
export const breakAttribute = 'data-weft-break'
