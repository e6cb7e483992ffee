import type * as Y from 'yjs'
import { invalid } from '../errors.ts'
import { limits } from '../model/limits.ts'
import type { Change } from './change.ts'
import { fitsKind, type RootKind, rootKind } from './kind.ts'
import { type ContentType, contentTypeNames, contentTypes, type Replacement } from './types.ts'

/** What a root is to hold. */
export interface ContentTarget {
  readonly type: string
  /** Name of the root: 1 to 500 characters. */
  readonly contentKey: string
  readonly data: unknown
}

/** Which root a target is for, and what kind of root that must be. */
export interface TargetKind {
  readonly target: Pick<ContentTarget, 'type' | 'contentKey'>
  readonly kind: RootKind
}

/** A target that has passed every check that needs no document. */
export interface CheckedContent extends TargetKind {
  readonly target: ContentTarget
  readonly replace: Replacement
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
  if (typeof target.type !== 'string') throw invalid('type must be a string')
  checkContentKey(target.contentKey)
  if (target.data === undefined) throw invalid('data is required')
  return contentTypeOf(target.type)
}

/**
 * Makes the root `contentKey` equal to `data` with the smallest sensible set of operations, in one transaction (of its
 * own, or the caller's). Equal already: no transaction. Throws INVALID_ARGUMENT before the first change, as
 * `checkContent` does or because the root holds another kind of content. Work is bounded for every input.
 */
export const replaceContent = (doc: Y.Doc, target: ContentTarget): Change =>
  replaceChecked(doc, checkContent(target))

/** `replaceContent` without doing the checks of `checkContent` again. */
export function replaceChecked(doc: Y.Doc, { target, kind: wanted, replace }: CheckedContent): Change {
  checkKind(doc, target, wanted)
  return replace(doc, target.contentKey)
}

/** Throws INVALID_ARGUMENT when the root cannot be of the kind that its content is asked for as. */
export function checkKind(
  doc: Y.Doc,
  { type, contentKey }: Pick<ContentTarget, 'type' | 'contentKey'>,
  wanted: RootKind,
): void {
  if (fitsKind(doc, contentKey, wanted)) return
  const kind = rootKind(doc, contentKey)
  throw invalid(`the content at contentKey ${JSON.stringify(contentKey)} is of type "${kind}", not "${type}"`)
}

/** Throws INVALID_ARGUMENT when `contentKey` cannot name a root. */
export function checkContentKey(contentKey: unknown): void {
  if (typeof contentKey !== 'string') throw invalid('contentKey must be a string')
  const { length } = contentKey
  if (length === 0) throw invalid('contentKey must not be empty')
  if (length > limits.nameLength) {
    throw invalid(`contentKey must be at most ${limits.nameLength} characters; it has ${length}`)
  }
  if (!contentKey.isWellFormed()) throw invalid('contentKey must be well-formed Unicode')
}

/** Throws INVALID_ARGUMENT when there is no type of this name. */
export function contentTypeOf(type: string): ContentType {
  const found = contentTypes[type]
  if (found === undefined) {
    const known = contentTypeNames.map((name) => `"${name}"`).join(', ')
    throw invalid(`type must be one of ${known}; it is ${JSON.stringify(type.slice(0, 50))}`)
  }
  return found
}
