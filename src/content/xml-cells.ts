import * as Y from 'yjs'
import { asRoot, type Root } from './kind.ts'
import { type Cells, cellsOf, nameOfType } from './stored-cells.ts'

/** What stands in an element or a fragment. */
export type XmlChild =
  /** Texts next to each other as one: nobody sees where they are cut. */
  | { readonly is: 'texts'; readonly types: readonly Root[]; readonly cells: Cells }
  | { readonly is: 'node'; readonly type: Root; readonly name: string }

/** What there is live, without texts that are empty; null where something stands that is no child of an element. */
export function childrenOf(parent: Root): readonly XmlChild[] | null {
  const children: XmlChild[] = []
  let texts: Root[] = []
  const endTexts = (): void => {
    const cells = cellsOf(texts)
    if (cells.cells.length > 0) children.push({ is: 'texts', types: texts, cells })
    texts = []
  }
  for (let item = parent._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    if (!(item.content instanceof Y.ContentType)) return null
    const type = asRoot(item.content.type as Y.XmlFragment)
    if (isPlainText(type)) texts.push(type)
    else {
      endTexts()
      children.push({ is: 'node', type, name: nameOfType(type) })
    }
  }
  endTexts()
  return children
}

/** One with attributes is something of its own. */
const isPlainText = (type: Root): boolean =>
  type instanceof Y.XmlText && [...type._map.values()].every(({ deleted }) => deleted)
