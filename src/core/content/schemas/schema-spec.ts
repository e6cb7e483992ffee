import type { Json } from '../json/json.ts'

/** An attribute of a node or a mark. An attribute without `default` is required. */
export interface AttributeSpec {
  readonly default?: Json
  /** Names of JSON types, separated by `|`, such as `string|null`. Without `type`, every value is allowed. */
  readonly type?: string
}

export type SpecsByAttribute = Readonly<Record<string, AttributeSpec>>

/** A kind of node, with the meaning of ProseMirror's `NodeSpec`. */
export interface NodeSpec {
  /** Content expression, such as `paragraph block*`. Without it, the node has no content. */
  readonly content?: string
  /**
   * Names of the marks and groups of marks that text in the node may have, separated by spaces; `_` allows
   * all marks. Without it, inline content may have all marks, and other content none.
   */
  readonly marks?: string
  /** Names of the groups of the node, separated by spaces. */
  readonly group?: string
  readonly inline?: boolean
  readonly attributes?: SpecsByAttribute
}

/** A kind of mark, with the meaning of ProseMirror's `MarkSpec`. */
export interface MarkSpec {
  /** Names of the marks and groups of marks that cannot be on the same text; `_` excludes all marks. */
  readonly excludes?: string
  readonly group?: string
  readonly attributes?: SpecsByAttribute
}

/** A schema of rich text as JSON, similar to the `spec` of a ProseMirror schema. */
export interface SchemaSpec {
  readonly nodes: Readonly<Record<string, NodeSpec>>
  readonly marks?: Readonly<Record<string, MarkSpec>>
  /** Name of the node that the root stands for. The default is `doc`. */
  readonly topNode?: string
  /** Name of the root in which the editor library keeps the content. */
  readonly contentKey?: string
  /** Names of marks and of attributes of nodes. Agents must not change the content that has one of them. */
  readonly protected?: readonly string[]
}

export const schemaLimits = {
  nodes: 200,
  marks: 100,
  /** Maximum number of attributes of one node or mark. */
  attributes: 64,
  /** Maximum length of a content expression or a list of names, in UTF-16 units. */
  expressionLength: 1_000,
  /** Maximum length of a name in UTF-16 units. */
  nameLength: 100,
  /** Maximum nesting of parentheses in a content expression. */
  expressionDepth: 20,
  /** Maximum number of a repetition such as `{2,5}`. */
  repetitions: 100,
  /** Maximum number of steps that the compilation of all content expressions takes. */
  steps: 200_000,
} as const

/** Name of the top node if a schema does not specify one. */
export const defaultTopNode = 'doc'

/** Name of the node that stands for text. */
export const textNode = 'text'

/** An attribute that y-prosemirror shows and does not store. */
export const changeAttribute = 'ychange'

/** Key of a mark that may overlap with others of its name, as y-prosemirror writes it. */
const hashedKey = /^(.*)--[a-zA-Z0-9+/=]{8}$/

/** Returns the name of the mark that is stored with a key. */
export const markName = (key: string): string => hashedKey.exec(key)?.[1] ?? key

/** Returns whether a key has the form of marks that may overlap. */
export const isHashedKey = (key: string): boolean => hashedKey.test(key)
