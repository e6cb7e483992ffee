import type * as Y from 'yjs'
import { invalid } from '../errors.ts'
import { type ContentType, contentTypeNames, contentTypes, type ReplaceFunction } from './content-types.ts'
import type { ReplacementResult } from './replacement-result.ts'
import { contentKeyOf, shownName } from './roots.ts'
import { fitsKind, type KnownKind, type RootKind, rootKind } from './yjs/root-kind.ts'

/** What a root is to hold. */
export interface ContentTarget {
  readonly type: string
  /** Name of the root: any well-formed string. Without it, `contentKeyOf` chooses one. */
  readonly contentKey?: string | undefined
  readonly data: unknown
}

/** Which root a target is for, and what kind of root that must be. */
export interface TargetKind {
  readonly target: Pick<ContentTarget, 'type' | 'contentKey'>
  readonly kind: KnownKind
}

/** A target that has passed every check that needs no document. */
export interface CheckedContent extends TargetKind {
  readonly target: ContentTarget
  readonly replace: ReplaceFunction
}

/**
 * The checks that need no document, in this order: fields and their types, `type` known, `data` fits it, content valid.
 * Throws INVALID_ARGUMENT saying what is wrong and where.
 */
export function checkContent(target: ContentTarget): CheckedContent {
  const type = checkTarget(target)
  return { target, kind: type.kind, replace: type.check(target.data) }
}

/** What there is to know of a target without its data. Throws INVALID_ARGUMENT. */
export function targetKind(target: ContentTarget): TargetKind {
  const { type, contentKey } = target
  return { target: { type, contentKey }, kind: checkTarget(target).kind }
}

/** The first of these checks, which do not look at `data`: cheap whatever its size. */
export function checkTarget(target: ContentTarget): ContentType {
  if (typeof target.type !== 'string') throw invalid('crdt/invalid-content', 'type must be a string')
  if (target.contentKey !== undefined) checkContentKey(target.contentKey)
  if (target.data === undefined) throw invalid('crdt/invalid-content', 'data is required')
  return contentTypeOf(target.type)
}

/**
 * Makes the root `contentKey` equal to `data` with the smallest sensible set of operations, in one transaction (of its
 * own, or the caller's). Equal already: no transaction. Throws INVALID_ARGUMENT before the first change, as
 * `checkContent` does or because the root holds another kind of content. Work is bounded for every input.
 */
export const replaceContent = (doc: Y.Doc, target: ContentTarget): ReplacementResult =>
  replaceChecked(doc, checkContent(target))

/** `replaceContent` without doing the checks of `checkContent` again. */
export function replaceChecked(
  doc: Y.Doc,
  { target, kind: wanted, replace }: CheckedContent,
): ReplacementResult {
  checkKind(doc, target, wanted)
  return replace(doc, contentKeyOf(doc, target.contentKey))
}

/** Throws INVALID_ARGUMENT when the root cannot be of the kind that its content is asked for as. */
export function checkKind(
  doc: Y.Doc,
  { type, contentKey: given }: Pick<ContentTarget, 'type' | 'contentKey'>,
  wanted: RootKind,
): void {
  const contentKey = contentKeyOf(doc, given)
  if (fitsKind(doc, contentKey, wanted)) return
  const kind = rootKind(doc, contentKey)
  throw invalid(
    'crdt/root-kind-mismatch',
    `the content at contentKey ${shownName(contentKey)} is of type "${kind}", not "${type}"; send that type, or another contentKey`,
  )
}

/** Throws INVALID_ARGUMENT when `contentKey` cannot name a root. */
export function checkContentKey(contentKey: unknown): void {
  if (typeof contentKey !== 'string') throw invalid('crdt/invalid-content-key', 'contentKey must be a string')
  if (!contentKey.isWellFormed())
    throw invalid('crdt/invalid-content-key', 'contentKey must be well-formed Unicode')
}

/** Throws INVALID_ARGUMENT when there is no type of this name. */
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
