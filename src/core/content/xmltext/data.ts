import type { JsonObject } from '../json/json.ts'

/**
 * A shared text that has attributes, as Lexical and Slate use it for every element: `{ "attributes": {…},
 * "delta": [operations] }`. Both members are optional.
 */
export interface SharedText {
  readonly kind: 'text'
  readonly attributes: JsonObject
  readonly delta: readonly TextPiece[]
}

/**
 * A shared XML element: `{ "name": "…", "attributes": {…}, "children": [{ "text": … }, { "element": … }] }`.
 */
export interface SharedElement {
  readonly kind: 'element'
  readonly name: string
  readonly attributes: JsonObject
  readonly children: readonly (SharedText | SharedElement)[]
}

interface SharedMap {
  readonly kind: 'map'
  readonly value: JsonObject
}

/** A plain value that is embedded in a text. */
interface Embedded {
  readonly kind: 'embed'
  readonly value: JsonObject
}

export type SharedNode = SharedText | SharedElement | SharedMap | Embedded

/**
 * An operation. It has `insert` with a string or an embed (an object), as in a Quill delta, or a shared value
 * in `text`, `element` or `map`. `attributes` contains its formatting.
 */
export interface TextPiece {
  readonly insert: string | SharedNode
  readonly formatting: JsonObject
}
