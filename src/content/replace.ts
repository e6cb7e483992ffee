import type * as Y from 'yjs'
import { invalid } from '../errors.ts'
import { type ContentType, contentTypeNames, contentTypes, type ReplaceFunction } from './content-types.ts'
import type { ReplacementResult } from './replacement-result.ts'
import { contentKeyOf, shownName } from './roots.ts'
import { fitsKind, type KnownKind, type RootKind, rootKind } from './yjs/root-kind.ts'

/** The target content of a root. */
export interface ContentTarget {
  readonly type: string
  /** Name of the root: any well-formed string. Without it, `contentKeyOf` determines the root. */
  readonly contentKey?: string | undefined
  readonly data: unknown
}

/** The root of a target, and the kind that it must have. */
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
 * Runs the checks that need no document, in this order: fields and their types, `type` is known, `data`
 * matches it, the content is valid.
 * @throws ApiError INVALID_ARGUMENT with the problem and its place
 */
export function checkContent(target: ContentTarget): CheckedContent {
  const type = checkTarget(target)
  return { target, kind: type.kind, replace: type.check(target.data) }
}

/** Returns the properties of a target that do not depend on its data. @throws ApiError INVALID_ARGUMENT */
export function targetKind(target: ContentTarget): TargetKind {
  const { type, contentKey } = target
  return { target: { type, contentKey }, kind: checkTarget(target).kind }
}

/** Runs the first of these checks, which do not read `data` and are inexpensive for any size. */
export function checkTarget(target: ContentTarget): ContentType {
  if (typeof target.type !== 'string') throw invalid('crdt/invalid-content', 'type must be a string')
  if (target.contentKey !== undefined) checkContentKey(target.contentKey)
  if (target.data === undefined) throw invalid('crdt/invalid-content', 'data is required')
  return contentTypeOf(target.type)
}

/**
 * Makes the root `contentKey` equal to `data` with the smallest sensible set of operations, in one
 * transaction (its own, or the caller's). If it is equal already, there is no transaction. The work is
 * bounded for every input.
 * @throws ApiError INVALID_ARGUMENT before the first change, as `checkContent`, or if the root has another
 * kind of content
 */
export const replaceContent = (doc: Y.Doc, target: ContentTarget): ReplacementResult =>
  replaceChecked(doc, checkContent(target))

/** Like `replaceContent`, without the checks of `checkContent`. */
export function replaceChecked(
  doc: Y.Doc,
  { target, kind: wanted, replace }: CheckedContent,
): ReplacementResult {
  checkKind(doc, target, wanted)
  return replace(doc, contentKeyOf(doc, target.contentKey))
}

/** @throws ApiError INVALID_ARGUMENT if the root cannot have the kind of the content type */
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

/** @throws ApiError INVALID_ARGUMENT if `contentKey` cannot name a root */
export function checkContentKey(contentKey: unknown): void {
  if (typeof contentKey !== 'string') throw invalid('crdt/invalid-content-key', 'contentKey must be a string')
  if (!contentKey.isWellFormed())
    throw invalid('crdt/invalid-content-key', 'contentKey must be well-formed Unicode')
}

/** @throws ApiError INVALID_ARGUMENT if no type has this name */
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
