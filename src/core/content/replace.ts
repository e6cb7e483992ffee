import * as Y from 'yjs'
import { invalid } from '../base/errors.ts'
import { contentTypeNames } from './content-type-names.ts'
import { type ContentType, contentTypes, type ReplaceFunction } from './content-types.ts'
import { contentKeyOf, shownName } from './roots.ts'
import { isRichTextRoot } from './xml/observed-schema.ts'
import { fitsKind, type KnownKind, type RootKind, rootKind } from './yjs/root-kind.ts'
import type { RootReplacement } from './yjs/root-replacement.ts'

/** The target content of a root. */
export interface ContentTarget {
  readonly type: string
  /**
   * Name of the root, which may be any well-formed string. If it is absent, `contentKeyOf` determines the
   * root.
   */
  readonly contentKey?: string | undefined
  /** The content; or its JSON in UTF-8, which `checkChange` parses. */
  readonly data: unknown
  /** True: may create a root in a document that has other roots. */
  readonly newRoot?: boolean | undefined
}

/** The root of a target, and the kind that this root must have. */
export interface TargetKind {
  readonly target: Pick<ContentTarget, 'type' | 'contentKey'>
  readonly kind: KnownKind
}

/** A target that has passed all checks that need no document. */
export interface CheckedContent {
  readonly target: ContentTarget
  readonly type: ContentType
  readonly replace: ReplaceFunction
}

/**
 * Runs the checks that need no document, in this order: the fields and their types, `type`, whether `data`
 * matches the type, and the content.
 * @throws ApiError INVALID_ARGUMENT with the problem and its position
 */
export function checkContent(target: ContentTarget): CheckedContent {
  const type = checkTarget(target)
  return { target, type, replace: type.check(target.data) }
}

/**
 * Runs the first checks of `checkContent`. These checks do not read `data`, so they are inexpensive for data
 * of any size.
 */
export function checkTarget(target: ContentTarget): ContentType {
  if (typeof target.type !== 'string') throw invalid('crdt/invalid-content', 'type must be a string')
  if (target.contentKey !== undefined) checkContentKey(target.contentKey)
  if (target.data === undefined) throw invalid('crdt/invalid-content', 'data is required')
  return contentTypeOf(target.type)
}

/**
 * Makes the root `contentKey` equal to `data` with a small set of operations, in one transaction (a new one,
 * or the transaction of the caller). If the root is already equal, there is no transaction. The work is
 * limited for every input.
 * @throws ApiError INVALID_ARGUMENT, before anything is changed, if `checkContent` rejects the target, or if
 * the root has another kind of content
 */
export function replaceContent(doc: Y.Doc, target: ContentTarget): RootReplacement {
  const { type, replace } = checkContent(target)
  const contentKey = contentKeyOf(doc, target.contentKey)
  checkKind(doc, target, type.kindOf(doc, contentKey))
  return replace(doc, contentKey, null)
}

/**
 * Checks that a root has, or can get, the kind of a content type.
 * @throws ApiError INVALID_ARGUMENT if it cannot
 */
export function checkKind(
  doc: Y.Doc,
  { type, contentKey: given }: Pick<ContentTarget, 'type' | 'contentKey'>,
  wanted: RootKind,
): void {
  const contentKey = contentKeyOf(doc, given)
  const kind = rootKind(doc, contentKey)
  const isBlocks = type === 'markdown' || type === 'html'
  if (isBlocks && (kind === 'xmltext' || (kind === 'xml' && isOnlyTexts(doc, contentKey))))
    throw invalid(
      'crdt/root-kind-mismatch',
      `${type === 'html' ? 'HTML' : 'Markdown'} is not supported for Lexical and Slate, whose content is at contentKey ${shownName(contentKey)}; send the type "xmltext", or edits with text`,
    )
  if (fitsKind(doc, contentKey, wanted)) return
  throw invalid(
    'crdt/root-kind-mismatch',
    `the content at contentKey ${shownName(contentKey)} is of type "${kind}", not "${type}"; send that type, or another contentKey`,
  )
}

const isText = ({ content }: Y.Item): boolean =>
  content instanceof Y.ContentType && content.type instanceof Y.XmlText

/**
 * Returns whether all content of a root is shared texts, as the elements of Slate without properties. Editors that
 * use XML have elements there.
 */
function isOnlyTexts(doc: Y.Doc, contentKey: string): boolean {
  if (isRichTextRoot(contentKey) || !fitsKind(doc, contentKey, 'xmltext')) return false
  for (let item = doc.share.get(contentKey)?._start ?? null; item !== null; item = item.right)
    if (!item.deleted && item.countable && !isText(item)) return false
  return true
}

/**
 * Checks the name of a root.
 * @throws ApiError INVALID_ARGUMENT if `contentKey` cannot be the name of a root
 */
export function checkContentKey(contentKey: unknown): void {
  if (typeof contentKey !== 'string') throw invalid('crdt/invalid-content-key', 'contentKey must be a string')
  if (!contentKey.isWellFormed())
    throw invalid('crdt/invalid-content-key', 'contentKey must be well-formed Unicode')
}

/**
 * Returns the content type with this name.
 * @throws ApiError INVALID_ARGUMENT if there is no such type
 */
export function contentTypeOf(type: string): ContentType {
  const found = contentTypes[type]
  if (found === undefined) {
    const known = contentTypeNames.map((name) => `"${name}"`).join(', ')
    throw invalid(
      'crdt/invalid-content',
      `type must be one of ${known}; it is ${JSON.stringify(type.slice(0, 50))}`,
    )
  }
  return found
}
