import type * as Y from 'yjs'
import { ApiError } from '../base/errors.ts'
import type { IdRange, StoredId } from '../update/range-index.ts'
import { editName } from './edit/check-edits.ts'
import type { EditDependencies, EditDependency, InsertedRun } from './edit/edit.ts'
import { targetNotFound } from './edit/edit-errors.ts'
import { occurrences } from './edit/targets/quote-search.ts'
import { checkKind, type TargetKind } from './replace.ts'
import { isStored, itemIn, typeWithId } from './yjs/items.ts'
import type { SharedRoot } from './yjs/root-kind.ts'
import { formOfItem } from './yjs/sequence-content.ts'

/** The part of a document into which a change for an older version is merged. */
export interface MergeTarget extends TargetKind {
  readonly dependencies: EditDependencies
}

/**
 * Checks that a change for an older version can be merged into a document. Returns whether the document lacks
 * the change.
 * @throws ApiError INVALID_ARGUMENT if the root has another kind by now; FAILED_PRECONDITION if the target of an
 * edit was deleted, or if the document has some of the edits, but not all of them
 */
export function checkMerge(doc: Y.Doc, { target, kind, dependencies }: MergeTarget): boolean {
  checkKind(doc, target, kind)
  const { edits, inserted } = dependencies
  if (edits.length === 0) return true
  const live = new MergingDocument(doc)
  const [present, absent] = [new Set<number>(), new Set<number>()]
  for (const run of inserted) {
    const isAgain = run.key === null && edits[run.edit]?.isInsertion === true
    const isPresent = !isAgain && live.contains(run)
    if (!isPresent) absent.add(run.edit)
    else if (run.isCountable && run.key === null) present.add(run.edit)
  }
  const isDone = ({ deleted }: EditDependency): boolean => !deleted.some(live.isStored)
  if (absent.size === 0 && edits.every(isDone)) return false
  for (const [index, edit] of edits.entries()) {
    if (live.lacksTarget(edit) || inserted.some((run) => run.edit === index && !live.hasParent(run)))
      throw new DeletedTargetError(cannotMerge(index, 'the target was deleted after baseVersion'))
    if (present.has(index) && isDone(edit))
      throw cannotMerge(index, 'the document has this edit, but not all edits of the request')
  }
  return true
}

/** The error of an edit whose target was deleted after the base version. */
export class DeletedTargetError extends ApiError {
  constructor({ code, message, details = {} }: ApiError) {
    super(code, message, { details })
  }
}

function cannotMerge(edit: number, problem: string): ApiError {
  const error = targetNotFound(`${editName(edit)}: ${problem}`)
  return Object.assign(error, { details: { ...error.details, edit } })
}

/** Maximum number of items that one check reads to find content that the document may already have. */
const comparedItemsMax = 100_000

/** The document into which edits are merged. */
class MergingDocument {
  readonly #doc: Y.Doc
  #itemsLeft = comparedItemsMax

  constructor(doc: Y.Doc) {
    this.#doc = doc
  }

  isStored = (range: IdRange): boolean => isStored(this.#doc, range)

  lacksTarget({ types, target, elements }: EditDependency): boolean {
    return (
      types.some((id) => !this.isStored({ ...id, length: 1 })) ||
      (target.length > 0 && !target.some(this.isStored)) ||
      elements.some((range) => !this.isStored(range))
    )
  }

  hasParent = ({ parent }: InsertedRun): boolean =>
    typeof parent === 'string' || this.isStored({ ...parent, length: 1 })

  /** Returns whether new content is already at its place. */
  contains({ parent, key, left, right, form }: InsertedRun): boolean {
    const type = this.#typeOf(parent)
    if (type === null) return false
    if (key !== null) {
      const entry = type._map.get(key)
      return entry !== undefined && !entry.deleted && formOfItem(entry) === form
    }
    const before = left === null ? null : itemIn(this.#doc, left)
    if (left !== null && before?.lastId.clock !== left.clock) return false
    const forms: string[] = []
    for (let item = before === null ? type._start : before.right; item !== null; item = item.right) {
      if (right !== null && includes(item, right)) break
      this.#itemsLeft -= 1
      if (this.#itemsLeft < 0) return false
      if (!item.deleted) forms.push(formOfItem(item))
    }
    return occurrences(forms.join(''), form).next().done === false
  }

  #typeOf(parent: string | StoredId): SharedRoot | null {
    if (typeof parent === 'string') return this.#doc.share.get(parent) ?? null
    const type = typeWithId(this.#doc, parent)
    return type?._item?.deleted === true ? null : type
  }
}

const includes = ({ id, length }: Y.Item, { client, clock }: StoredId): boolean =>
  id.client === client && id.clock <= clock && clock < id.clock + length
