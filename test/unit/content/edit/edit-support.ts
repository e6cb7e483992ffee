import * as Y from 'yjs'
import { ApiError } from '../../../../src/core/base/errors.ts'
import { checkEditContent } from '../../../../src/core/content/edit/check-edits.ts'
import type {
  Edit,
  EditOutcome,
  EditTarget,
  InsertedContent,
  InsertPlace,
} from '../../../../src/core/content/edit/edit.ts'
import { applyTextEdit, type EditedRoot, type TextKind } from '../../../../src/core/content/edit/text-edit.ts'
import { WorkLimit } from '../../../../src/core/content/edit/work-limit.ts'
import type { SharedRoot } from '../../../../src/core/content/yjs/root-kind.ts'

/** A target by its text. */
export const quote = (
  text: string,
  more: Partial<Extract<EditTarget, { is: 'quote' }>> = {},
): EditTarget => ({
  is: 'quote',
  quote: text,
  before: '',
  after: '',
  occurrence: null,
  acrossBlocks: false,
  ...more,
})

export const heading = (text: string, occurrence: number | null = null): EditTarget => ({
  is: 'heading',
  text,
  occurrence,
})

/** The row of a table with this text in one of its cells. */
export const row = (text: string, occurrence: number | null = null): EditTarget => ({
  is: 'row',
  text,
  occurrence,
})

export const block = (index: number): EditTarget => ({ is: 'block', index })

export const attribute = (name: string, value: string | number | boolean): EditTarget => ({
  is: 'attribute',
  name,
  value,
})

export const content = (text: string): InsertedContent => ({ format: 'text', text })

export const xml = (data: string): InsertedContent => checkEditContent(data, 'xml', 'content')

export const replace = (target: EditTarget, inserted: string | InsertedContent): Edit => ({
  is: 'replace',
  target,
  content: typeof inserted === 'string' ? content(inserted) : inserted,
})

export const insert = (place: InsertPlace, inserted: string | InsertedContent): Edit => ({
  is: 'insert',
  place,
  content: typeof inserted === 'string' ? content(inserted) : inserted,
})

export const remove = (target: EditTarget): Edit => ({ is: 'remove', target })

export const mark = (
  target: EditTarget,
  name: string,
  value: Extract<Edit, { is: 'mark' }>['value'],
): Edit => ({
  is: 'mark',
  target,
  name,
  value,
})

export const attributes = (
  target: EditTarget,
  set: Record<string, Extract<Edit, { is: 'mark' }>['value']>,
): Edit => ({ is: 'attributes', target, set: new Map(Object.entries(set)) })

export const textAt = (index: number, deletions: number, insertion: string): Edit => ({
  is: 'text',
  index,
  deletions,
  insertion,
})

/** Returns a root that is edited without a schema and without a limit. */
export const editedRoot = (
  transaction: Y.Transaction,
  root: SharedRoot,
  kind: TextKind,
  contentKey: string,
  place: string,
): EditedRoot => ({
  transaction,
  root,
  kind,
  contentKey,
  place,
  schema: null,
  recorder: null,
  work: new WorkLimit(),
  index: null,
})

/** Applies edits in one transaction. Returns the outcome of the last edit. */
export function applyEdits(doc: Y.Doc, kind: TextKind, key: string, ...edits: Edit[]): EditOutcome {
  const root = doc.share.get(key)
  if (root === undefined) throw new Error('there is no such root')
  return doc.transact((transaction) => {
    const outcomes = edits.map((edit, index) =>
      applyTextEdit(editedRoot(transaction, root, kind, key, `edits[${index}]`), edit),
    )
    return outcomes.at(-1) as EditOutcome
  })
}

/** Applies an edit that must be rejected. Returns its error, and throws if the edit has changed the document. */
export function rejectionOf(doc: Y.Doc, kind: TextKind, key: string, edit: Edit): ApiError {
  const before = Y.encodeStateAsUpdate(doc)
  const error = errorOf(() => applyEdits(doc, kind, key, edit))
  if (!(error instanceof ApiError)) throw error
  if (!Buffer.from(before).equals(Y.encodeStateAsUpdate(doc))) throw new Error('the edit changed something')
  return error
}

function errorOf(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  return new Error('the edit was accepted')
}

/** Returns the quotes of the candidates of an error. */
export const candidatesOf = (error: ApiError): (string | undefined)[] =>
  ((error.details?.candidates ?? []) as { quote?: string }[]).map((candidate) => candidate.quote)
