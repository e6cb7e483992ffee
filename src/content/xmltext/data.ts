import type { JsonObject } from '../json/json.ts'

/**
 * A shared text with attributes of its own, as Lexical and Slate use it for every element: `{ "attributes":
 * {…}, "delta": [operations] }`, both optional.
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

export interface SharedMap {
  readonly kind: 'map'
  readonly value: JsonObject
}

/** A plain value embedded in a text. */
export interface Embedded {
  readonly kind: 'embed'
  readonly value: JsonObject
}

export type SharedNode = SharedText | SharedElement | SharedMap | Embedded

/**
 * An operation: `insert` with a string or an embed (an object) as in Quill's deltas, or one of `text`,
 * `element` and `map` for a shared value; and `attributes` for its formatting.
 */
export interface TextPiece {
  readonly insert: string | SharedNode
  readonly formatting: JsonObject
}
