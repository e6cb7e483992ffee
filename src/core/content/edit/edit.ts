import type { IdRange, StoredId } from '../../update/range-index.ts'
import type { TextOfBlocks } from '../blocks/block-format.ts'
import type { Json } from '../json/json.ts'
import type { TargetTree } from '../xml/target-tree.ts'
import type { RootReplacement } from '../yjs/root-replacement.ts'

/** The place to which an edit refers, as a person would name it. */
export type EditTarget =
  | QuoteTarget
  /** The heading with this text. As the target of `into` and `after`, its section. */
  | { readonly is: 'heading'; readonly text: string; readonly occurrence: number | null }
  /** The row of a table with this text in one of its cells. */
  | { readonly is: 'row'; readonly text: string; readonly occurrence: number | null }
  /** The node with this attribute. */
  | { readonly is: 'attribute'; readonly name: string; readonly value: Json }
  /** The block with this index, in the order of the document, from 0. */
  | { readonly is: 'block'; readonly index: number }
  /** The value at a JSON pointer (RFC 6901), as its reference tokens. */
  | { readonly is: 'path'; readonly path: readonly string[] }
  /**
   * The text between two stored relative positions, each encoded as by `Y.encodeRelativePosition`. Equal
   * positions: a place between two characters.
   */
  | { readonly is: 'anchor'; readonly start: Uint8Array; readonly end: Uint8Array }

export interface QuoteTarget {
  readonly is: 'quote'
  /** Text as `get` returns it. White space and Unicode are normalized before the comparison. */
  readonly quote: string
  /** Text directly before the quote; '' if it does not matter. */
  readonly before: string
  /** Text directly after the quote; '' if it does not matter. */
  readonly after: string
  /** Which of several occurrences is meant, from 1; null: there must be exactly one. */
  readonly occurrence: number | null
  /** Whether the quote may span several blocks. */
  readonly acrossBlocks: boolean
}

export type InsertedContent =
  | { readonly format: 'text'; readonly text: string }
  | NodeContent
  /** A plain value for a map or an array. */
  | { readonly format: 'value'; readonly value: Json }

/** Rich text, in any format. */
export interface NodeContent extends TargetTree {
  readonly format: 'nodes'
  /** The text and its blocks; null if the format is not one of blocks. */
  readonly source: TextOfBlocks | null
  /**
   * White space around content of which a single paragraph can be a part of a text. Formats for prose drop this
   * white space in a paragraph. Null: a paragraph is always a block.
   */
  readonly around: { readonly start: string; readonly end: string } | null
}

/** A string without a format. The root decides which format it has. */
interface UnformattedContent {
  readonly format: 'default'
  readonly text: string
  /** @throws ApiError INVALID_ARGUMENT if the text exceeds a limit of Markdown */
  readonly asMarkdown: () => NodeContent
}

export type GivenContent = InsertedContent | UnformattedContent

/** The place of an insertion, in relation to its target. `start` and `end` are the ends of the root. */
export type InsertPlace =
  | { readonly at: 'before' | 'after' | 'into'; readonly target: EditTarget }
  | { readonly at: 'start' | 'end' }

/** An operation of JSON Patch (RFC 6902). Pointers are given as their reference tokens. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: readonly string[]; readonly value: Json }
  | { readonly op: 'remove'; readonly path: readonly string[] }
  | { readonly op: 'move' | 'copy'; readonly from: readonly string[]; readonly path: readonly string[] }

/** One edit of a root, after all checks that need no document. */
export type CheckedEdit = Edit<GivenContent>

/** One edit of a root. */
export type Edit<Content = InsertedContent> =
  | { readonly is: 'replace'; readonly target: EditTarget; readonly content: Content }
  | { readonly is: 'insert'; readonly place: InsertPlace; readonly content: Content }
  | { readonly is: 'remove'; readonly target: EditTarget }
  /** Sets the formatting `name` of a text; null removes it. */
  | { readonly is: 'mark'; readonly target: EditTarget; readonly name: string; readonly value: Json }
  /** Sets attributes of a node; null removes an attribute. */
  | { readonly is: 'attributes'; readonly target: EditTarget; readonly set: ReadonlyMap<string, Json> }
  | { readonly is: 'patch'; readonly operations: readonly JsonPatchOperation[] }
  /** Deletes and inserts text at a UTF-16 position. */
  | {
      readonly is: 'text'
      readonly index: number
      readonly deletions: number
      readonly insertion: string
    }

/** The place that an edit has matched, before the edit. */
export interface MatchedPlace {
  /** At most 80 characters of the matched text. */
  readonly quote?: string
  /** Text before the matched text, in the same block; at most 40 characters. */
  readonly before?: string
  /** Text after the matched text, in the same block; at most 40 characters. */
  readonly after?: string
  /** Attributes of the block that contains the place, or of the matched node; at most 1,000 bytes as JSON. */
  readonly attributes?: Readonly<Record<string, Json>>
  /** JSON pointer of the place, in a map or an array. */
  readonly path?: string
}

/** The effect of one edit. */
export interface EditOutcome {
  readonly place: MatchedPlace
  /** Inserted UTF-16 units and values. */
  readonly insertions: number
  /** Deleted UTF-16 units and values. */
  readonly deletions: number
  /** False if the edit has written nothing, because the document was already as requested. */
  readonly changed: boolean
}

/** The result of edits of one root, or of its replacement. */
export interface EditedContent extends RootReplacement {
  /** One outcome for each edit, in the order of the request; absent for a replacement. */
  readonly edits?: readonly EditOutcome[]
  /** The content on which the edits depend; present only if they are merged into a later version. */
  readonly dependencies?: EditDependencies
}

/** The stored content on which one edit depends, if it is merged into a later version. */
export interface EditDependency {
  /** Shared types that are targets. They must still exist. */
  readonly types: readonly StoredId[]
  /** The text of the target. A part of it must still exist. Empty if the target is not a text. */
  readonly target: readonly IdRange[]
  /** Elements of arrays that the edit deletes. All of them must still exist. */
  readonly elements: readonly IdRange[]
  readonly deleted: readonly IdRange[]
  readonly created: IdRange
  /** True for an insertion, which the server writes again if it is repeated. */
  readonly isInsertion: boolean
}

/** New content at one place: neighbors in a sequence, or the value of a map entry. */
export interface InsertedRun {
  /** Index of the first edit that has inserted a part of it. */
  readonly edit: number
  /** Name of the root that contains it, or the id of the shared type that contains it and must still exist. */
  readonly parent: string | StoredId
  /** Key of a map entry; null in a sequence. */
  readonly key: string | null
  /** The next older content on both sides, deleted or not; null at an end of the sequence. */
  readonly left: StoredId | null
  readonly right: StoredId | null
  /** The content in the form of `formOfItem`. */
  readonly form: string
  /** False if the content only formats text. */
  readonly isCountable: boolean
}

/** The stored content on which the edits of a request depend, and their new content. */
export interface EditDependencies {
  /** The dependencies of each edit, in the order of the request. */
  readonly edits: readonly EditDependency[]
  readonly inserted: readonly InsertedRun[]
}
